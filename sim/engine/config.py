"""EngineConfig: the settings of the engine, under the names vLLM gives them.

Deliberate differences from vLLM
* `reserve_full_isl` is vLLM's `scheduler_reserve_full_isl`; `num_blocks` is given, not measured.
* The last five switches do not exist there: they are the ways in which 0.11 decides differently from 0.33
  (read in its source; the recordings are of 0.33), each with its own name; `v0_11` turns them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.checks import in_range, number_in_range, one_of, yes_or_no

POLICIES = ("fcfs", "priority")


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Settings of one engine; ValueError when one is out of range. The defaults are those of vLLM 0.33 where
    it has any.

    block_size                     token slots a block, >= 1.
    num_blocks                     blocks, >= 2, the null block counted.
    max_num_seqs                   most running requests, >= 1 (also those that get no tokens in a step).
    max_num_batched_tokens         token budget of a step, >= max_num_seqs.
    max_model_len                  most tokens of a request, prompt and answers, >= 2.
    enable_prefix_caching          find full blocks again by what they hold.
    enable_chunked_prefill         a prompt may be computed over several steps; if not, the budget must be
                                   >= max_model_len.
    long_prefill_token_threshold   most tokens of one request in a step, 0 = no such cap.
    policy                         "fcfs" or "priority".
    watermark                      part of all blocks (0..1) that admission leaves free while somebody runs.
    reserve_full_isl               admission wants room for the whole prompt, not for its first chunk alone.
    async_scheduling               plan a step before the answers of the one before are back.

    unhashed_to_front              freed blocks without a prefix go to the front of the free queue.
    skip_too_long_without_chunking chunked prefill off: a head longer than the budget left is passed over.
    refund_priority_victims        a victim planned already gives its tokens back to this step's budget.
    shift_for_priority_victims     ... and the walk goes on at the request it stood at.
    self_preemption_ends_pass      also under priority a request that threw itself out ends the running pass.
    """

    block_size: int = 16
    num_blocks: int = 61
    max_num_seqs: int = 8
    max_num_batched_tokens: int = 2048
    max_model_len: int = 2048
    enable_prefix_caching: bool = True
    enable_chunked_prefill: bool = True
    long_prefill_token_threshold: int = 0
    policy: str = "fcfs"
    watermark: float = 0.0
    reserve_full_isl: bool = True
    async_scheduling: bool = False
    unhashed_to_front: bool = True
    skip_too_long_without_chunking: bool = False
    refund_priority_victims: bool = True
    shift_for_priority_victims: bool = True
    self_preemption_ends_pass: bool = False

    def __post_init__(self) -> None:
        in_range("block_size", self.block_size, 1)
        in_range("num_blocks", self.num_blocks, 2)
        in_range("max_num_seqs", self.max_num_seqs, 1)
        in_range("max_num_batched_tokens", self.max_num_batched_tokens, self.max_num_seqs)
        in_range("max_model_len", self.max_model_len, 2)
        in_range("long_prefill_token_threshold", self.long_prefill_token_threshold, 0)
        one_of("policy", self.policy, POLICIES)
        number_in_range("watermark", self.watermark, 0, 1)
        for name in _SWITCHES:
            yes_or_no(name, getattr(self, name))
        if not self.enable_chunked_prefill:
            in_range(
                "max_num_batched_tokens (chunked prefill off)",
                self.max_num_batched_tokens,
                self.max_model_len,
            )

    @classmethod
    def v0_11(cls, **settings: Any) -> EngineConfig:
        """The same settings with the decisions of vLLM 0.11."""
        return cls(**{**_VERSION_0_11, **settings})

    @property
    def watermark_blocks(self) -> int:
        """Blocks kept back at admission: a part of all, the null block counted, rounded down."""
        return int(self.watermark * self.num_blocks)


_SWITCHES = (
    "enable_prefix_caching",
    "enable_chunked_prefill",
    "reserve_full_isl",
    "async_scheduling",
    "unhashed_to_front",
    "skip_too_long_without_chunking",
    "refund_priority_victims",
    "shift_for_priority_victims",
    "self_preemption_ends_pass",
)

_VERSION_0_11: dict[str, Any] = {
    "reserve_full_isl": False,
    "watermark": 0.0,
    "unhashed_to_front": False,
    "skip_too_long_without_chunking": True,
    "refund_priority_victims": False,
    "shift_for_priority_victims": False,
    "self_preemption_ends_pass": True,
}
