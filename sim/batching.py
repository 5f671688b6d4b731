"""Who is at which window in which round: static and continuous batching.

Everybody is there at the first round; travellers are served in order of arrival; one step a
round for each traveller at a window; a window that falls free is filled in the next round.

Deliberate differences from real servers: prefill takes no time, all rounds are equally long and
memory is never short. Continuous batching is Orca's iteration-level scheduling (OSDI '22);
static batching holds a batch until its longest request is done (PagedAttention paper, section 2.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sim.checks import in_range

MOST_NEED = 12
MOST_TRAVELLERS = 12
MOST_WINDOWS = 6


@dataclass(frozen=True)
class Timetable:
    """A whole run: ``rounds[r][w]`` is the index of the traveller at window w in round r, or None.

    ``finish[i]`` is the round (from 1) in which traveller i takes the last step, and ``returned[i]``
    the round in which the answer leaves: under static batching, with the whole batch.
    """

    needs: tuple[int, ...]
    windows: int
    rounds: tuple[tuple[int | None, ...], ...]
    finish: tuple[int, ...]
    returned: tuple[int, ...]

    @property
    def slots(self) -> int:
        """Window-rounds offered: rounds times windows."""
        return len(self.rounds) * self.windows

    @property
    def idle(self) -> int:
        """Window-rounds in which nobody was served."""
        return self.slots - sum(self.needs)

    @property
    def mean_finish(self) -> Fraction:
        """Mean of the travellers' own finishing rounds."""
        return Fraction(sum(self.finish), len(self.finish))

    @property
    def mean_return(self) -> Fraction:
        """Mean of the rounds in which the answers leave."""
        return Fraction(sum(self.returned), len(self.returned))


def check(needs: Sequence[int], windows: int) -> None:
    """Raise ValueError unless there are 1..12 needs of 1..12 rounds and 1..6 windows."""
    in_range("number of travellers", len(needs), 1, MOST_TRAVELLERS)
    in_range("windows", windows, 1, MOST_WINDOWS)
    for need in needs:
        in_range("need", need, 1, MOST_NEED)


def static(needs: Sequence[int], windows: int) -> Timetable:
    """Serve in batches of ``windows``; the next batch starts when all of this one are done.

    Raises ValueError as ``check`` does.
    """
    check(needs, windows)
    rounds: list[tuple[int | None, ...]] = []
    finish: list[int] = []
    returned: list[int] = []
    for first in range(0, len(needs), windows):
        batch = range(first, min(first + windows, len(needs)))
        start, length = len(rounds), max(needs[i] for i in batch)
        rounds += [_static_round(batch, needs, windows, step) for step in range(length)]
        finish += [start + needs[i] for i in batch]
        returned += [start + length for _ in batch]
    return Timetable(tuple(needs), windows, tuple(rounds), tuple(finish), tuple(returned))


def _static_round(batch: range, needs: Sequence[int], windows: int, step: int) -> tuple[int | None, ...]:
    served = [i if needs[i] > step else None for i in batch]
    return tuple(served + [None] * (windows - len(served)))


def continuous(needs: Sequence[int], windows: int) -> Timetable:
    """Re-form the batch before every round: a free window takes the next of the queue.

    Raises ValueError as ``check`` does.
    """
    check(needs, windows)
    left = list(needs)
    finish = [0] * len(left)
    waiting = list(range(len(left)))
    seats: list[int | None] = [None] * windows
    rounds: list[tuple[int | None, ...]] = []
    while any(left):
        seats = [_seat(seat, left, waiting) for seat in seats]
        rounds.append(tuple(seats))
        for traveller in seats:
            if traveller is not None:
                left[traveller] -= 1
                finish[traveller] = len(rounds)
    return Timetable(tuple(needs), windows, tuple(rounds), tuple(finish), tuple(finish))


def _seat(seat: int | None, left: list[int], waiting: list[int]) -> int | None:
    if seat is not None and left[seat]:
        return seat
    return waiting.pop(0) if waiting else None


def another_order(needs: Sequence[int], jumps: int = 37) -> tuple[int, ...]:
    """Return ``needs`` in another order: ``jumps`` lexicographic permutations further, round and round.

    37 shares no factor with the 120 orders of the lesson's six, so every order comes up in turn.
    """
    order = list(needs)
    for _ in range(jumps):
        _next_permutation(order)
    return tuple(order)


def _next_permutation(order: list[int]) -> None:
    rise = next((i for i in range(len(order) - 2, -1, -1) if order[i] < order[i + 1]), None)
    if rise is None:
        order.reverse()
        return
    swap = next(i for i in range(len(order) - 1, rise, -1) if order[i] > order[rise])
    order[rise], order[swap] = order[swap], order[rise]
    order[rise + 1 :] = reversed(order[rise + 1 :])
