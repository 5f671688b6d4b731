"""What a scene is: a State type with its ranges, actions on it, and a view of it; all pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

from scenes import fields
from scenes.fields import Notice

S = TypeVar("S")


class WrongValueError(ValueError):
    """An action whose ``value`` is no whole number in ``low``..``high``, and the ``nearest`` that is.

    ``nearest`` is None where the value is no number at all.
    """

    def __init__(self, value: str, low: int, high: int, nearest: int | None) -> None:
        super().__init__(f"value is {value!r}, must be a whole number from {low} to {high}")
        self.value, self.low, self.high, self.nearest = value, low, high, nearest

    def notice(self, key: str) -> Notice:
        """Tell what was given and what is used instead, or that nothing is."""
        given, used = self.value[: fields.SHOWN], "" if self.nearest is None else str(self.nearest)
        return Notice("value" if not used else "nearest", key, given, used, str(self.low), str(self.high))


@dataclass(frozen=True)
class Action:
    """What the reader did: the control's ``data-action``, its ``data-arg`` and its value, as text."""

    name: str
    arg: str = ""
    value: str = ""

    def number(self, low: int, high: int) -> int:
        """Return ``value`` as a whole number. Raises WrongValueError if it is none in ``low``..``high``."""
        number = fields.whole(self.value)
        nearest = None if number is None else int(min(max(number, low), high))
        if nearest is None or float(self.value) != nearest:
            raise WrongValueError(self.value, low, high, nearest)
        return nearest

    def moved(self, now: int, low: int, high: int) -> int:
        """Return ``now`` one up for "more" or down for "less", within ``low``..``high``; else ``number``."""
        if self.name not in ("more", "less"):
            return self.number(low, high)
        return min(max(now + (1 if self.name == "more" else -1), low), high)

    def index(self, count: int) -> int:
        """Return ``arg`` as an index below ``count``. Raises ValueError if it is none."""
        if not (self.arg.isascii() and self.arg.isdigit() and int(self.arg) < count):
            raise ValueError(f"arg is {self.arg!r}, must be 0 to {count - 1}")
        return int(self.arg)


@dataclass(frozen=True)
class Event:
    """What an action did, for the sentence that the page says: a ``kind`` and the facts it needs.

    ``correction`` tells that its value was not in range, and what was used instead.
    """

    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    correction: Notice | None = None


@dataclass(frozen=True)
class View:
    """All that a template may show: ``quantities`` by name, and the ``parts`` that are drawn."""

    quantities: dict[str, str]
    parts: dict[str, Any]


def _correct(notices: list[Notice], last: Notice) -> None:
    """Add ``last``; where it corrects what another correction made, tell both as one, from what was given."""
    for place, one in enumerate(notices):
        if (one.kind, one.key, one.used) == (last.kind, last.key, last.given):
            notices[place] = replace(last, given=one.given)
            return
    notices.append(last)


def _settled(state: S) -> tuple[S, list[Notice]]:
    return state, []


def _resolved(state: S) -> S:
    return state


def _no_ranges(state: object) -> dict[str, tuple[int, int]]:
    return {}


@dataclass(frozen=True)
class Scene(Generic[S]):
    """One scene. ``state`` makes the default State.

    ``act`` answers an Action with the next State and an Event, and raises ValueError for an action
    that the scene does not have. ``view`` computes what is shown. ``usual`` names the actions a reader
    usually takes next, whose answers are prepared at build, ``depth`` actions far. ``settle`` brings
    parameters that depend on each other into range and into their one form; ``ranges`` names those ranges
    in a settled State. ``resolve`` fills in the value that a parameter left out (None) stands for, for the
    written state.
    """

    name: str
    state: Callable[[], S]
    act: Callable[[S, Action], tuple[S, Event]]
    view: Callable[[S], View]
    usual: Callable[[S], Sequence[Action]]
    settle: Callable[[S], tuple[S, list[Notice]]] = _settled
    ranges: Callable[[S], dict[str, tuple[int, int]]] = _no_ranges
    resolve: Callable[[S], S] = _resolved
    depth: int = 1

    def default(self) -> S:
        """Return the State that an empty address means."""
        return self.read("")[0]

    def read(self, query: str) -> tuple[S, list[Notice]]:
        """Read a State from an address, whatever it holds, with the corrections made."""
        state, notices = fields.read(self.state, query)
        state, more = self.settle(state)
        given = fields.pairs(query)
        for one in more:
            if one.kind != "number":
                notices.append(one)
            elif one.key in given:
                _correct(notices, one)
        return state, [self._in_range(one, state) for one in notices]

    def _in_range(self, notice: Notice, state: S) -> Notice:
        """Name the range that a parameter has in this very State, not the widest that it ever has."""
        if notice.kind != "number" or notice.key not in (ranges := self.ranges(state)):
            return notice
        low, high = ranges[notice.key]
        return replace(notice, low=str(low), high=str(high))

    def query(self, state: S) -> str:
        """Write every key of ``state``, in the declared order."""
        return fields.write(self.resolve(state))

    def address(self, state: S) -> str:
        """Write the shortest query that ``read`` turns into ``state``."""
        return fields.write_changed(state, self.default())

    def after(self, state: S, action: Action) -> tuple[S, Event]:
        """Act, or go back to the default for "reset"; of a number out of range the nearest in it is taken.

        Raises ValueError for an unknown action, WrongValueError for a value that is no number.
        """
        if action.name == "reset":
            return self.default(), Event("reset")
        try:
            after, event = self.act(state, action)
        except WrongValueError as wrong:
            if wrong.nearest is None:
                raise
            after, event = self.act(state, replace(action, value=str(wrong.nearest)))
            event = replace(event, correction=wrong.notice(action.name))
        return self.settle(after)[0], event


def decimal(value: Fraction, places: int) -> str:
    """Write an exact fraction with a fixed number of decimals, halves up, without any float."""
    scaled = (abs(value) * 10**places + Fraction(1, 2)).__floor__()
    whole, part = divmod(scaled, 10**places)
    sign = "-" if value < 0 and scaled else ""
    return f"{sign}{whole}.{part:0{places}d}" if places else f"{sign}{whole}"
