"""LadderConfig: the one machine on which every policy of the ladder is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.checks import in_range, number_in_range, yes_or_no
from sim.engine import EngineConfig

PAPER_SLOTS = 15_728
"""Token slots of OPT-13B on an A100-40GB: 12 GiB / 819,200 bytes (PagedAttention paper, table 1 and section
6.1)."""


@dataclass(frozen=True, slots=True)
class LadderConfig:
    """Memory and limits, the same for all; ValueError when one is out of range. The defaults are the paper's
    setting.

    slots                   token slots of the memory, >= 1. Paged policies use the whole blocks among them.
    block_size              token slots a block, >= 1 (paged policies).
    max_model_len           most tokens of a request, prompt and answers: 2 .. the slots in whole blocks.
    max_num_seqs            most running requests, >= 1.
    max_num_batched_tokens  token budget of a step, >= max_num_seqs (paged policies); whole prefill steps want
                            >= max_model_len, so that every prompt fits into one.
    watermark               part of the blocks (0..1) that vLLM v0 leaves free at admission; vLLM v1 takes
                            its own default, 0.
    enable_prefix_caching   vLLM v1 only: find full blocks again by what they hold.
    """

    slots: int = PAPER_SLOTS
    block_size: int = 16
    max_model_len: int = 2048
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    watermark: float = 0.01
    enable_prefix_caching: bool = True

    def __post_init__(self) -> None:
        in_range("slots", self.slots, 1)
        in_range("block_size", self.block_size, 1, self.slots)
        in_range("max_model_len", self.max_model_len, 2, self.blocks * self.block_size)
        in_range("max_num_seqs", self.max_num_seqs, 1)
        in_range("max_num_batched_tokens", self.max_num_batched_tokens, self.max_num_seqs)
        number_in_range("watermark", self.watermark, 0, 1)
        yes_or_no("enable_prefix_caching", self.enable_prefix_caching)

    @property
    def blocks(self) -> int:
        """Whole blocks the memory holds; the pool has one more, the null block, which stands for no memory
        here."""
        return self.slots // self.block_size

    def engine(self) -> EngineConfig:
        """The vLLM 0.33 scheduler on this machine."""
        return EngineConfig(**self._engine_settings())

    def engine_v0_11(self) -> EngineConfig:
        """The vLLM 0.11 variations on this machine."""
        return EngineConfig.v0_11(**self._engine_settings())

    def _engine_settings(self) -> dict[str, Any]:
        return {
            "block_size": self.block_size,
            "num_blocks": self.blocks + 1,
            "max_num_seqs": self.max_num_seqs,
            "max_num_batched_tokens": self.max_num_batched_tokens,
            "max_model_len": self.max_model_len,
            "enable_prefix_caching": self.enable_prefix_caching,
        }
