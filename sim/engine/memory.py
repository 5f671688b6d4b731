"""Memory: what the engine asks of the BlockPool for one request (vLLM: kv_cache_manager.py).

It finds cached prefixes, says whether a request may come in or grow, fills its BlockTable, publishes full
blocks (before they are computed) and takes everything back.

Deliberate differences from vLLM
* One KV-cache group with full attention; no sliding window, Mamba, connector or speculative slots.
* Prefixes are made when they are first looked at, not when the tokens become known; nobody can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.block_pool import BlockPool
from sim.engine.config import EngineConfig
from sim.engine.live import NEVER, Live
from sim.prefix import HashFunction, Prefix, prefix_hash


@dataclass(frozen=True, slots=True)
class Demand:
    """What an admission asks for: `needs` blocks, `watermark` of them only kept back, where `free` are free.

    `take` blocks are really handed out, the rest of `needs` is only a condition.
    """

    needs: int
    free: int
    take: int
    watermark: int

    @property
    def fits(self) -> bool:
        """True if the request may come in."""
        return self.needs <= self.free


class Memory:
    """The block tables of all running requests, over one BlockPool."""

    def __init__(self, config: EngineConfig, hasher: HashFunction = prefix_hash) -> None:
        self.pool = BlockPool(config.num_blocks, unhashed_to_front=config.unhashed_to_front)
        self._block_size = config.block_size
        self._max_model_len = config.max_model_len
        self._caching = config.enable_prefix_caching
        self._reserve_full = config.reserve_full_isl
        self._watermark = config.watermark_blocks
        self._hasher = hasher

    def blocks_for(self, tokens: int) -> int:
        """Blocks that hold `tokens` tokens (rounded up)."""
        return -(-tokens // self._block_size)

    # Admission

    def cached(self, live: Live) -> list[int]:
        """The longest run of cached blocks from its start, at least one token short."""
        hits: list[int] = []
        if self._caching:
            for index in range(self._findable(live)):
                block = self.pool.find(self._prefix(live, index))
                if block is None:
                    break
                self._adopt(live, index, block)
                hits.append(block)
        return hits

    def admission(self, live: Live, hits: list[int], upto: int, others: bool) -> Demand:
        """What it asks to come in with `hits` cached blocks and tokens up to `upto` computed.

        Hits that lie in the free queue are charged like new blocks: using one takes a free block away. The
        whole of a long prompt must have room although only the first chunk's blocks are taken. The watermark
        only counts if `others` run.
        """
        take = self.blocks_for(upto) - len(hits)
        whole = self.blocks_for(min(live.known, self._max_model_len)) - len(hits) if self._reserve_full else 0
        watermark = self._watermark if others else 0
        return Demand(
            max(take, whole) + self._free_hits(hits) + watermark, self.pool.free_count, take, watermark
        )

    def admit(self, live: Live, hits: list[int], take: int) -> list[int]:
        """Give a request its table: first the hits, so that it cannot evict them, then `take` new blocks."""
        for block in hits:
            self.pool.share(block)
        taken = self.pool.take(take)
        live.table.extend(hits)
        live.table.extend(taken)
        live.slots = len(live.table) * self._block_size
        live.published = len(hits)
        live.publish_at = (len(hits) + 1) * self._block_size if self._caching else NEVER
        return taken

    def _findable(self, live: Live) -> int:
        """Most blocks a lookup may find: one token is always computed again, for its answer."""
        return (live.known - 1) // self._block_size

    def _adopt(self, live: Live, index: int, block: int) -> None:
        """Use the found block's own prefix from now on: equal ones then meet as one object."""
        held = self.pool.prefix_of(block)
        if held is not None:
            live.prefixes[index] = held

    def _free_hits(self, hits: list[int]) -> int:
        return sum(1 for block in hits if self.pool.reference_count(block) == 0)

    # Growth

    def growth(self, live: Live, upto: int) -> int:
        """New blocks needed to compute its tokens up to `upto`. No watermark here."""
        return self.blocks_for(min(upto, self._max_model_len)) - len(live.table)

    def grow(self, live: Live, count: int) -> list[int]:
        """Add `count` blocks to its table."""
        taken = self.pool.take(count)
        live.table.extend(taken)
        live.slots += count * self._block_size
        return taken

    # Prefixes

    def publish(self, live: Live, upto: int) -> None:
        """Make its full blocks up to token `upto` findable."""
        full = upto // self._block_size
        row, publish = live.table.row, self.pool.publish
        for index in range(live.published, full):
            publish(row(index + 1), self._prefix(live, index))
        if full > live.published:
            live.published = full
            live.publish_at = (full + 1) * self._block_size

    def _prefix(self, live: Live, index: int) -> Prefix:
        """What block `index` (from 0) of the request holds; made up to there if it is not known yet."""
        prefixes = live.prefixes
        while len(prefixes) <= index:
            start = len(prefixes) * self._block_size
            tokens = live.tokens(start, start + self._block_size)
            prefixes.append(Prefix(prefixes[-1] if prefixes else None, tokens, self._hasher))
        return prefixes[index]

    # The end

    def release(self, live: Live) -> int:
        """Take everything back, the tail first; returns the number of its blocks."""
        table = live.table
        self.pool.release(table)
        live.forget()
        return len(table)
