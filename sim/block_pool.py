"""The BlockPool: physical blocks, their reference counts, the free queue, and the prefix cache.

One implementation for the lesson's paged keeper and for the engine. It follows vLLM 0.33
(v1/core/block_pool.py): block 0 is the null block, never handed out; allocation takes from the front of one
ordered free queue; a freed block that can still be found by its prefix goes to the end of the queue, any
other to the very front.

Deliberate differences from vLLM
* No KV is stored: a block is its number.
* Prefixes are compared by token ids (see sim/prefix.py); vLLM trusts its hash.
* Counts are checked: releasing or sharing what is not there raises ValueError.
* `free_order` starts the queue scattered, for the lesson; vLLM starts with 1, 2, 3, ...
* `unhashed_to_front=False` sends every freed block to the end, as vLLM 0.11 did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sim.checks import in_range, whole
from sim.prefix import Prefix

NULL_BLOCK = 0


class PoolExhausted(ValueError):  # noqa: N818 (what happened, as in the standard library's StopIteration)
    """More blocks were wanted than are free; carries both numbers."""

    def __init__(self, wanted: int, free: int) -> None:
        super().__init__(f"{wanted} blocks wanted, only {free} free")
        self.wanted = wanted
        self.free = free


class BlockPool:
    """Blocks 1..num_blocks-1 in one ordered free queue, with reference counts.

    num_blocks        at least 2; includes the null block 0, so `usable` is one less.
    free_order        the first order of the queue, a permutation of 1..num_blocks-1; None = ascending.
    unhashed_to_front True: freed blocks without a prefix go to the front (vLLM 0.33); False: to the end
    (0.11).
    on_evict          called with a block just before it loses its prefix because it is handed out.

    Raises ValueError for bad arguments; no method changes anything when it raises.
    """

    def __init__(
        self,
        num_blocks: int,
        free_order: Sequence[int] | None = None,
        *,
        unhashed_to_front: bool = True,
        on_evict: Callable[[int], None] | None = None,
    ) -> None:
        in_range("num_blocks", num_blocks, 2)
        order = list(range(1, num_blocks)) if free_order is None else list(free_order)
        if sorted(whole("block in free_order", block) for block in order) != list(range(1, num_blocks)):
            raise ValueError(f"free_order must hold each block from 1 to {num_blocks - 1} once, got {order}")
        self.num_blocks = num_blocks
        self.on_evict = on_evict
        self._unhashed_to_front = unhashed_to_front
        self._references = [0] * num_blocks
        self._free = 0
        # The queue is a ring of links through the null block: _next[0] is its front, _previous[0] its end.
        # So leaving from the middle is O(1).
        self._next = [0] * num_blocks
        self._previous = [0] * num_blocks
        for block in order:
            self._join(self._previous[0], block)
        # Prefix cache: what a block holds, and for each hash the blocks that carry it, oldest first.
        self._prefix: list[Prefix | None] = [None] * num_blocks
        self._by_hash: dict[int, dict[int, None]] = {}

    # Ask

    @property
    def usable(self) -> int:
        """Blocks that can be handed out at all: num_blocks - 1."""
        return self.num_blocks - 1

    @property
    def free_count(self) -> int:
        """Blocks in the free queue, those still findable by prefix included."""
        return self._free

    @property
    def used_count(self) -> int:
        """Blocks referenced by at least one table."""
        return self.num_blocks - 1 - self._free

    @property
    def cached_hashes(self) -> int:
        """Number of distinct hashes under which something can be found."""
        return len(self._by_hash)

    def can_take(self, count: int) -> bool:
        """True if `count` (>= 0) blocks are free."""
        if type(count) is not int or count < 0:
            in_range("count", count, 0)  # says what is wrong
        return count <= self._free

    def free_ids(self) -> tuple[int, ...]:
        """The free blocks in queue order, the next to be handed out first."""
        found = []
        block = self._next[0]
        while block:
            found.append(block)
            block = self._next[block]
        return tuple(found)

    def reference_count(self, block: int) -> int:
        """How many tables hold `block`, 0 if it is free."""
        return self._references[self._known(block)]

    def prefix_of(self, block: int) -> Prefix | None:
        """The prefix under which `block` can be found, None if under none."""
        return self._prefix[self._known(block)]

    def find(self, prefix: Prefix) -> int | None:
        """The oldest published block with exactly this prefix (token ids compared), or None."""
        for block in self._by_hash.get(prefix.hash, ()):
            held = self._prefix[block]
            if held is not None and held.same_as(prefix):
                return block
        return None

    # Do

    def take(self, count: int) -> list[int]:
        """Hand out `count` blocks from the front of the queue, each with one reference.

        A block that still carried a prefix loses it (eviction). PoolExhausted if too few are
        free.
        """
        if not self.can_take(count):
            raise PoolExhausted(count, self._free)
        return self._cut_front(count)

    def share(self, block: int) -> None:
        """One more reference to `block`, out of the queue if it was free (vLLM: touch).

        ValueError if it is free and carries no prefix: there is nothing in it to share.
        """
        if self._references[self._known(block)] == 0:
            if self._prefix[block] is None:
                raise ValueError(f"block {block} is free and holds nothing to share")
            self._leave(block)
        self._references[block] += 1

    def release(self, blocks: Iterable[int]) -> list[int]:
        """Give a table's blocks back, from its tail, and return those that became free, in that order.

        ValueError if a block is given back more often than it is referenced.
        """
        table = list(blocks)
        self._check_release(table)
        references = self._references
        freed = []
        for block in reversed(table):
            references[block] -= 1
            if references[block] == 0:
                freed.append(block)
        self._queue_freed(freed)
        return freed

    def publish(self, block: int, prefix: Prefix) -> None:
        """Make `block` findable under `prefix`; ValueError if it is free or findable already."""
        if self._references[self._known(block)] == 0:
            raise ValueError(f"block {block} is free, only a block in use can be published")
        if self._prefix[block] is not None:
            raise ValueError(f"block {block} is published already")
        self._prefix[block] = prefix
        self._by_hash.setdefault(prefix.hash, {})[block] = None

    # Inside

    def _known(self, block: int) -> int:
        """`block` itself; ValueError if there is no such block. (The first line is only there for speed.)"""
        if type(block) is int and 0 < block < self.num_blocks:
            return block
        return in_range("block", block, 1, self.usable)

    def _check_release(self, table: list[int]) -> None:
        for block in table:
            if self._references[self._known(block)] == 0:
                raise ValueError(f"block {block} is released but nobody holds it")
        if len(set(table)) < len(table):
            for block in table:
                if table.count(block) > self._references[block]:
                    raise ValueError(f"block {block} is released more often than it is held")

    def _queue_freed(self, freed: list[int]) -> None:
        """Blocks without a prefix to the front, the first freed foremost; the others to the end."""
        front = NULL_BLOCK
        for block in freed:
            if self._prefix[block] is None and self._unhashed_to_front:
                self._join(front, block)
                front = block
            else:
                self._join(self._previous[0], block)

    def _cut_front(self, count: int) -> list[int]:
        """Cut the first `count` blocks off the queue."""
        following, prefixes, references = self._next, self._prefix, self._references
        taken = []
        block = following[NULL_BLOCK]
        for _ in range(count):
            if prefixes[block] is not None:
                self._evict(block)
            references[block] = 1
            taken.append(block)
            block = following[block]
        following[NULL_BLOCK] = block
        self._previous[block] = NULL_BLOCK
        self._free -= count
        return taken

    def _evict(self, block: int) -> None:
        if self.on_evict is not None:
            self.on_evict(block)
        self._forget(block)

    def _forget(self, block: int) -> None:
        prefix = self._prefix[block]
        self._prefix[block] = None
        if prefix is not None:
            twins = self._by_hash[prefix.hash]
            del twins[block]
            if not twins:
                del self._by_hash[prefix.hash]

    def _join(self, before: int, block: int) -> None:
        """Put `block` into the queue right behind `before` (0: at the front)."""
        after = self._next[before]
        self._next[before] = self._previous[after] = block
        self._previous[block] = before
        self._next[block] = after
        self._free += 1

    def _leave(self, block: int) -> None:
        before, after = self._previous[block], self._next[block]
        self._next[before] = after
        self._previous[after] = before
        self._free -= 1
