"""Figures measured by others, as published, so that no page types one.

From Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention"
(SOSP'23, arXiv 2309.06180). Percentages are shares of the KV cache memory.
"""

from __future__ import annotations

TOKEN_STATES = {"max": "20.4", "pow2": "26.8", "oracle": "38.2", "vllm": "96.3"}
"""Figure 2: percent of the KV memory that held token states, per system (three Orca variants, vLLM)."""

MEAN_BATCH = {"max": "7.00", "pow2": "9.81", "oracle": "13.62", "vllm": "30.42"}
"""Figure 13a: requests batched on average, OPT-13B with ShareGPT lengths at ``MEAN_BATCH_RATE``."""

MEAN_BATCH_RATE = 2
"""Figure 13a: requests that came in a second."""

KERNEL_OVERHEAD = ("20", "26")
"""Section 7.1: percent by which reading through the table slows the attention operator alone."""

BLOCK_TOKENS = 16
"""Section 7.2: tokens of one block by default, in vLLM too."""

KV_BYTES_OPT_13B = 2 * 5120 * 40 * 2
"""Section 3: bytes of K and V for one token of OPT-13B: two vectors of 5,120, 40 layers, two bytes each."""
