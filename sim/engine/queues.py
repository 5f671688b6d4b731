"""The waiting queues: first come first served, and by priority (vLLM: request_queue.py).

Deliberate differences from vLLM: leaving from anywhere costs the same as leaving from the front (vLLM
searches); in the priority queue a request that left from the middle stays in the heap, marked by its absence,
until it surfaces.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Protocol

from sim.engine.live import Live


class WaitingQueue(Protocol):
    """Requests that wait, in the order in which they will be tried."""

    def add(self, live: Live) -> None:
        """A new request."""

    def put_back(self, live: Live) -> None:
        """A request that was running, or was passed over: to the front where the order allows it."""

    def head(self) -> Live:
        """The next to be tried; only ask if not empty."""

    def remove(self, live: Live) -> None:
        """Take a request out, wherever it stands."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Live]: ...


class FcfsQueue:
    """A deque by id: new requests at the end, preempted ones at the front."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Live] = OrderedDict()

    def add(self, live: Live) -> None:
        """To the end."""
        self._waiting[live.id] = live

    def put_back(self, live: Live) -> None:
        """To the very front."""
        self._waiting[live.id] = live
        self._waiting.move_to_end(live.id, last=False)

    def head(self) -> Live:
        """The one at the front."""
        return next(iter(self._waiting.values()))

    def remove(self, live: Live) -> None:
        """Take it out."""
        del self._waiting[live.id]

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Live]:
        return iter(self._waiting.values())


class PriorityQueue:
    """A heap by (priority, arrival, id as text); a preempted request goes back to its own place."""

    def __init__(self) -> None:
        self._heap: list[tuple[tuple[int, float, str], int, Live]] = []
        self._entry: dict[str, int] = {}
        self._added = 0

    def add(self, live: Live) -> None:
        """To its place in the order."""
        self._added += 1
        self._entry[live.id] = self._added
        heappush(self._heap, (self.order(live), self._added, live))

    def put_back(self, live: Live) -> None:
        """To its place in the order: nothing is in front of anything by having run."""
        self.add(live)

    def head(self) -> Live:
        """The most urgent."""
        while not self._waits(self._heap[0]):
            heappop(self._heap)
        return self._heap[0][2]

    def remove(self, live: Live) -> None:
        """Take it out."""
        del self._entry[live.id]

    @staticmethod
    def order(live: Live) -> tuple[int, float, str]:
        """Smaller goes first. The id is compared as text: "r10" before "r2"."""
        return (*live.urgency, live.id)

    def _waits(self, entry: tuple[tuple[int, float, str], int, Live]) -> bool:
        return self._entry.get(entry[2].id) == entry[1]

    def __len__(self) -> int:
        return len(self._entry)

    def __iter__(self) -> Iterator[Live]:
        return (entry[2] for entry in sorted(filter(self._waits, self._heap), key=lambda entry: entry[:2]))


def waiting_queue(policy: str) -> WaitingQueue:
    """The queue of a policy, "fcfs" or "priority"."""
    return PriorityQueue() if policy == "priority" else FcfsQueue()
