"""The buddy allocator: pieces of memory that are powers of two, cut in halves and joined again (Knowlton,
1965).

It is what the PagedAttention paper (SOSP '23, section 6.1) gives its Orca baselines, and the source of their
external fragmentation. The arena need not be a power of two: it is first cut into the largest aligned powers
of two, so 15,728 slots are 7 x 2,048 + 1,024 + 256 + 64 + 32 + 16 when the largest piece is 2,048.

    A piece of size s starts at a multiple of s; its buddy starts at start XOR s.

Deliberate differences from what it models: the paper does not say how its allocator places pieces or treats
the rest of its arena. Here the smallest piece that will do is cut, the lowest of several, and buddies are
joined at once.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple

from sim.checks import in_range


class Piece(NamedTuple):
    """`size` slots (a power of two) from slot `start` on, counted from 0."""

    start: int
    size: int


class NoPieceError(ValueError):
    """No free piece is large enough; carries the size wanted and the largest there is."""

    def __init__(self, wanted: int, largest: int) -> None:
        super().__init__(f"a piece of {wanted} slots is wanted, the largest free one has {largest}")
        self.wanted = wanted
        self.largest = largest


def power_of_two(number: int) -> int:
    """The smallest power of two that is not below `number` (>= 1): 25 -> 32, 32 -> 32."""
    return 1 << (in_range("number", number, 1) - 1).bit_length()


class BuddyAllocator:
    """Pieces of an arena of `slots` slots (>= 1).

    largest  size of the largest piece, a power of two; joining stops there. None: as large as the arena
             allows.

    Raises ValueError for bad arguments; no method changes anything when it raises.
    """

    def __init__(self, slots: int, largest: int | None = None) -> None:
        in_range("slots", slots, 1)
        if largest is not None and power_of_two(in_range("largest", largest, 1)) != largest:
            raise ValueError(f"largest must be a power of two, got {largest}")
        self.slots = slots
        self._largest = largest
        self._taken: dict[int, int] = {}  # start -> size
        self._free: dict[int, list[int]] = {}  # size -> starts, ascending
        self._free_slots = slots
        start = 0
        while start < slots:
            size = self._cut(slots - start)
            self._free.setdefault(size, []).append(start)
            start += size

    def _cut(self, left: int) -> int:
        size = 1 << (left.bit_length() - 1)
        return size if self._largest is None else min(size, self._largest)

    # Ask

    @property
    def largest_piece(self) -> int:
        """Size of the largest piece the empty arena offers."""
        return self._cut(self.slots)

    @property
    def free_slots(self) -> int:
        """Slots in free pieces, however small these are."""
        return self._free_slots

    @property
    def largest_free(self) -> int:
        """Size of the largest free piece, 0 if none is free."""
        return max((size for size, starts in self._free.items() if starts), default=0)

    def free_below(self, size: int) -> int:
        """Slots in free pieces smaller than `size`: they serve nobody who wants that much."""
        return sum(one * len(starts) for one, starts in self._free.items() if one < size)

    def free_pieces(self) -> tuple[Piece, ...]:
        """The free pieces by where they start."""
        return tuple(sorted(Piece(start, size) for size, starts in self._free.items() for start in starts))

    def taken_pieces(self) -> tuple[Piece, ...]:
        """The pieces handed out, by where they start."""
        return tuple(sorted(Piece(start, size) for start, size in self._taken.items()))

    def can_take(self, wanted: int) -> bool:
        """True if `wanted` slots (>= 1) in a row can be had."""
        return self.largest_free >= power_of_two(wanted)

    # Do

    def take(self, wanted: int) -> Piece:
        """Hand out a piece of the smallest power of two >= `wanted` (>= 1); NoPieceError if there is none."""
        size = power_of_two(wanted)
        found = min((one for one, starts in self._free.items() if starts and one >= size), default=0)
        if not found:
            raise NoPieceError(size, self.largest_free)
        start = self._free[found].pop(0)
        while found > size:  # keep the lower half, the upper becomes free
            found //= 2
            insort(self._free.setdefault(found, []), start + found)
        self._taken[start] = size
        self._free_slots -= size
        return Piece(start, size)

    def release(self, start: int) -> Piece:
        """Take back the piece that starts at `start`, join it with its free buddies, return the joined piece.

        ValueError if no piece handed out starts there.
        """
        if in_range("start", start, 0, self.slots - 1) not in self._taken:
            raise ValueError(f"no piece that is handed out starts at slot {start}")
        size = self._taken.pop(start)
        self._free_slots += size
        while size != self._largest and self._leave(start ^ size, size):
            start &= ~size
            size *= 2
        insort(self._free.setdefault(size, []), start)
        return Piece(start, size)

    def _leave(self, start: int, size: int) -> bool:
        """Take a free piece off its list; False if there is none like that."""
        starts = self._free.get(size, [])
        place = bisect_left(starts, start)
        if place == len(starts) or starts[place] != start:
            return False
        del starts[place]
        return True
