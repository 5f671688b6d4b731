"""The two keepers of the lockers, over one interface, and who may come in.

``ReservedKeeper`` locks as many numbered lockers in a row as the longest request could need
(contiguous pre-allocation, PagedAttention paper section 3.1). ``PagedKeeper`` hands out single
lockers from the block pool and writes them down in a block table (section 4.2); pool and tables
are those of the engine. Lockers are numbered from 1; lengths are whole lockers.

Deliberate differences from real servers: one item fills one locker exactly, so the last page is
never half full; admission looks at today's luggage only, as vLLM does, and nobody grows here
while others wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sim.block_pool import BlockPool
from sim.block_table import BlockTable
from sim.checks import in_range

MOST_LOCKERS = 1_000_000
"""Largest wall that a keeper takes, to bound what a wrong figure could ask for."""


@dataclass(frozen=True)
class Holding:
    """What one admitted traveller has: ``lockers`` in reading order, the first ``items`` hold luggage."""

    traveller: int
    items: int
    lockers: tuple[int, ...]

    @property
    def empty(self) -> int:
        """Lockers kept for this traveller with nothing inside."""
        return len(self.lockers) - self.items


@dataclass(frozen=True)
class Waiting:
    """Why ``traveller`` waits: ``needs`` lockers are wanted where ``free`` are free.

    ``behind`` is the traveller at the head of the queue whom first come, first served does not let
    be overtaken, or None when it is the room itself that is short. ``fits`` tells whether the room would do.
    """

    traveller: int
    items: int
    needs: int
    free: int
    behind: int | None
    fits: bool


@dataclass(frozen=True)
class Admission:
    """Who came in and who waits; used + empty + free is always ``capacity``."""

    capacity: int
    admitted: tuple[Holding, ...]
    waiting: tuple[Waiting, ...]

    @property
    def used(self) -> int:
        """Lockers that hold luggage."""
        return sum(holding.items for holding in self.admitted)

    @property
    def empty(self) -> int:
        """Lockers that are locked with nothing inside."""
        return sum(holding.empty for holding in self.admitted)

    @property
    def free(self) -> int:
        """Lockers that anybody could still be given."""
        return self.capacity - self.used - self.empty


class Keeper(Protocol):
    """One way of giving out lockers. ``can_admit`` asks, ``admit`` does."""

    capacity: int

    @property
    def free(self) -> int:
        """Lockers neither used nor locked."""

    def needs(self, items: int) -> int:
        """Lockers that somebody with ``items`` would be given."""

    def can_admit(self, items: int) -> bool:
        """Tell whether somebody with ``items`` can be given lockers now."""

    def admit(self, traveller: int, items: int) -> Holding:
        """Give lockers. Raises ValueError, and changes nothing, if ``can_admit`` says no."""


class ReservedKeeper:
    """Locks ``limit`` numbered lockers in a row for everyone, at a multiple of ``limit``.

    Raises ValueError if ``capacity`` is not 1..1,000,000 or ``limit`` not 1..``capacity``.
    """

    def __init__(self, capacity: int, limit: int) -> None:
        in_range("capacity", capacity, 1, MOST_LOCKERS)
        in_range("limit", limit, 1, capacity)
        self.capacity = capacity
        self.limit = limit
        self._segments: list[int | None] = [None] * (capacity // limit)

    @property
    def free(self) -> int:
        """Lockers outside every locked segment."""
        return self.capacity - self.limit * sum(owner is not None for owner in self._segments)

    def needs(self, items: int) -> int:
        """Return ``limit``, whatever ``items`` (1..``limit``) says. Raises ValueError out of range."""
        in_range("items", items, 1, self.limit)
        return self.limit

    def can_admit(self, items: int) -> bool:
        """Tell whether a whole segment is free."""
        self.needs(items)
        return None in self._segments

    def admit(self, traveller: int, items: int) -> Holding:
        """Lock the first free segment. Raises ValueError if there is none, or for somebody who is in."""
        if traveller in self._segments:
            raise ValueError(f"traveller {traveller} is already in")
        if not self.can_admit(items):
            wanted = f"{self.limit} lockers in a row"
            raise ValueError(f"traveller {traveller} needs {wanted}, only {self.free} free")
        segment = self._segments.index(None)
        self._segments[segment] = traveller
        first = segment * self.limit + 1
        return Holding(traveller, items, tuple(range(first, first + self.limit)))


class PagedKeeper:
    """Hands out single lockers from a ``BlockPool`` and keeps a ``BlockTable`` for everyone.

    ``free_order`` is the order in which the free lockers lie in the pool, by default 1, 2, 3...
    Raises ValueError if ``capacity`` is not 1..1,000,000 or ``free_order`` does not hold each locker once.
    """

    def __init__(self, capacity: int, free_order: Sequence[int] | None = None) -> None:
        in_range("capacity", capacity, 1, MOST_LOCKERS)
        self.capacity = capacity
        self._pool = BlockPool(capacity + 1, free_order)
        self.tables: dict[int, BlockTable] = {}

    @property
    def free(self) -> int:
        """Blocks in the free queue."""
        return self._pool.free_count

    def needs(self, items: int) -> int:
        """Return ``items`` (1..``capacity``): one locker each. Raises ValueError out of range."""
        in_range("items", items, 1, self.capacity)
        return items

    def can_admit(self, items: int) -> bool:
        """Tell whether that many lockers are free, anywhere."""
        return self._pool.can_take(self.needs(items))

    def admit(self, traveller: int, items: int) -> Holding:
        """Take ``items`` lockers. Raises ValueError if fewer are free, or for somebody who is in."""
        if traveller in self.tables:
            raise ValueError(f"traveller {traveller} is already in")
        if not self.can_admit(items):
            raise ValueError(f"traveller {traveller} needs {items} lockers, only {self.free} free")
        table = self.tables[traveller] = BlockTable(self._pool.take(items))
        return Holding(traveller, items, table.blocks)

    def append(self, traveller: int) -> int:
        """Give one more locker and return it. Raises ValueError if none is free, or for a stranger."""
        table = self._table(traveller)
        if not self._pool.can_take(1):
            raise ValueError(f"traveller {traveller} needs 1 locker, only 0 free")
        (locker,) = self._pool.take(1)
        table.append(locker)
        return locker

    def leave(self, traveller: int) -> None:
        """Take all lockers of ``traveller`` back. Raises ValueError for a stranger."""
        self._pool.release(self._table(traveller).blocks)
        del self.tables[traveller]

    def _table(self, traveller: int) -> BlockTable:
        if traveller not in self.tables:
            raise ValueError(f"traveller {traveller} is not in, those who are: {sorted(self.tables)}")
        return self.tables[traveller]


def admit(keeper: Keeper, luggage: Sequence[int], order: str = "fcfs") -> Admission:
    """Let travellers in, in order of arrival, whoever fits with all their luggage.

    ``luggage[i]`` is the number of items of traveller i. With ``order`` "fcfs" the first who does not
    fit stops everybody behind (as vLLM's scheduler does); with "skip" whoever fits may go first.
    Raises ValueError for another ``order`` or luggage out of the keeper's range; nobody is then let in.
    """
    if order not in ("fcfs", "skip"):
        raise ValueError(f"order is {order!r}, must be 'fcfs' or 'skip'")
    for items in luggage:
        keeper.needs(items)
    admitted: list[Holding] = []
    waiting: list[Waiting] = []
    for traveller, items in enumerate(luggage):
        head = waiting[0].traveller if waiting and order == "fcfs" else None
        if head is None and keeper.can_admit(items):
            admitted.append(keeper.admit(traveller, items))
        else:
            waiting.append(_refusal(keeper, traveller, items, head))
    return Admission(keeper.capacity, tuple(admitted), tuple(waiting))


def _refusal(keeper: Keeper, traveller: int, items: int, head: int | None) -> Waiting:
    return Waiting(traveller, items, keeper.needs(items), keeper.free, head, keeper.can_admit(items))
