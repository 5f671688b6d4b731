"""The ladder of serving policies, from static batching to vLLM, on the one interface of sim/policy.py.

    for name, make in LADDER.items():
        report = run(make(LadderConfig()), traffic, StepCost())      # sim/metrics.py

    static       request-level batches, the longest answer reserved        FasterTransformer
    orca-max     iteration-level, the longest answer reserved              Orca (Max)
    orca-pow2    iteration-level, at most twice the true answer reserved   Orca (Pow2)
    orca-oracle  iteration-level, exactly what will be filled reserved     Orca (Oracle)
    vllm-v0      paged, whole prefill steps first                          vLLM v0, nano-vllm
    vllm-0.11    paged, chunked prefill                                    vLLM 0.11 (read, not traced)
    vllm-0.33    paged, chunked prefill                                    vLLM 0.33

Each module lists at its top where it differs on purpose from what it models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sim.engine import Scheduler
from sim.ladder.config import PAPER_SLOTS, LadderConfig
from sim.ladder.prefill_first import PrefillFirst
from sim.ladder.reserved import IterationLevel
from sim.ladder.rung import Halved
from sim.ladder.static import StaticBatching

__all__ = [
    "LADDER",
    "PAPER_SLOTS",
    "Halved",
    "IterationLevel",
    "LadderConfig",
    "PrefillFirst",
    "StaticBatching",
]

LADDER: Mapping[str, Callable[[LadderConfig], Halved]] = MappingProxyType(
    {
        "static": StaticBatching,
        "orca-max": lambda config: IterationLevel(config, "max"),
        "orca-pow2": lambda config: IterationLevel(config, "pow2"),
        "orca-oracle": lambda config: IterationLevel(config, "oracle"),
        "vllm-v0": PrefillFirst,
        "vllm-0.11": lambda config: Scheduler(config.engine_v0_11()),
        "vllm-0.33": lambda config: Scheduler(config.engine()),
    }
)
