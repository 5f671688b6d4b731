"""Typed parameters: how one value of a State stands in an address, and what range it has.

A parameter is declared where the State is, ``luggage: tuple[int, ...] = param(Integers(1, 12), ...)``;
its name is its key in the address. Reading never fails: a bad item becomes the nearest valid
value, excess is cut, and a ``Notice`` tells what was changed so that the page can say so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

S = TypeVar("S")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
SHOWN = 24
"""Characters of a reader's own text that a notice repeats."""
LONGEST = 4096
"""Characters of one value that are read at all."""


@dataclass(frozen=True)
class Notice:
    """One correction: ``kind`` of fault in ``key``, the text ``given``, and what was ``used`` instead.

    ``low`` and ``high`` are the range that was left, as text, empty where there is none; ``options`` what
    there is to choose from.
    """

    kind: str
    key: str
    given: str = ""
    used: str = ""
    low: str = ""
    high: str = ""
    options: tuple[str, ...] = ()


class Kind(Protocol):
    """The type of a parameter."""

    def read(self, key: str, text: str, default: Any) -> tuple[Any, list[Notice]]:
        """Turn ``text`` from an address into the nearest valid value; never raises."""

    def write(self, value: Any) -> str:
        """Turn a valid value into the text that ``read`` gives back unchanged."""


def whole(text: str) -> int | float | None:
    """Read a number and round it, halves up; None if it is none, infinity if it is too large."""
    if not NUMBER.fullmatch(text.strip()):
        return None
    number = float(text)
    return number if math.isinf(number) else math.floor(number + 0.5)


def _exact(text: str) -> bool:
    return re.fullmatch(r"0|-?[1-9][0-9]*", text) is not None


@dataclass(frozen=True)
class Integer:
    """A whole number in ``low``..``high``, both included."""

    low: int
    high: int

    def read(self, key: str, text: str, default: int) -> tuple[int, list[Notice]]:
        """Clamp a number; take ``default`` for what is none."""
        number = whole(text)
        value = default if number is None else int(min(max(number, self.low), self.high))
        if number == value and _exact(text):
            return value, []
        return value, [Notice("number", key, text[:SHOWN], str(value), str(self.low), str(self.high))]

    def write(self, value: int) -> str:
        """Write the digits."""
        return str(value)


@dataclass(frozen=True)
class Latest:
    """A whole number in ``low``..``high``, or None, written as nothing, for the last there is."""

    low: int
    high: int

    def read(self, key: str, text: str, default: int | None) -> tuple[int | None, list[Notice]]:
        """Clamp a number; an empty text is None."""
        return Integer(self.low, self.high).read(key, text, self.high) if text else (None, [])

    def write(self, value: int | None) -> str:
        """Write the digits, or nothing."""
        return "" if value is None else str(value)


@dataclass(frozen=True)
class Choice:
    """One of ``options``, compared to the letter."""

    options: tuple[str, ...]

    def read(self, key: str, text: str, default: str) -> tuple[str, list[Notice]]:
        """Take ``default`` for an unknown option."""
        if text in self.options:
            return text, []
        named = tuple(filter(None, self.options))
        return default, [Notice("choice", key, text[:SHOWN], default, options=named)]

    def write(self, value: str) -> str:
        """Write the option."""
        return value


@dataclass(frozen=True)
class Integers:
    """``least`` to ``most`` whole numbers, each in ``low``..``high``, written with commas."""

    low: int
    high: int
    least: int
    most: int

    def read(self, key: str, text: str, default: tuple[int, ...]) -> tuple[tuple[int, ...], list[Notice]]:
        """Clamp every item, cut what is too many, fill what is too few from ``default``."""
        notices: list[Notice] = []
        items = text[:LONGEST].split(",") if text else []
        values: list[int] = []
        for place, item in enumerate(items[: self.most]):
            fallback = default[place] if place < len(default) else self.low
            value, faults = Integer(self.low, self.high).read(key, item, fallback)
            values.append(value)
            notices += faults
        if len(items) > self.most:
            notices.append(Notice("many", key, str(text.count(",") + 1), str(self.most)))
        if len(values) < self.least:
            notices.append(Notice("few", key, str(len(values)), str(self.least)))
            values += default[len(values) : self.least]
        return tuple(values), notices

    def write(self, value: tuple[int, ...]) -> str:
        """Join the digits with commas."""
        return ",".join(map(str, value))


def param(kind: Kind, default: Any) -> Any:
    """Declare a field of a State with its ``kind`` and ``default``."""
    return field(default=default, metadata={"kind": kind})


def kind_of(state_type: type, key: str) -> Kind:
    """Return the kind of the parameter ``key``. Raises KeyError for an unknown one."""
    for declared in fields(state_type):
        if declared.name == key:
            kind: Kind = declared.metadata["kind"]
            return kind
    raise KeyError(key)


def pairs(query: str) -> dict[str, str]:
    """Split a query string; the last of a repeated key wins. A plus sign stands for itself."""
    found: dict[str, str] = {}
    for part in query.lstrip("?").split("&"):
        key, equals, value = part.partition("=")
        if equals:
            found[unquote(key)] = unquote(value)
    return found


def bare(query: str) -> set[str]:
    """Return the keys that stand in a query string without an equals sign."""
    return {unquote(part) for part in query.lstrip("?").split("&") if "=" not in part}


def read(state_type: Callable[[], S], query: str) -> tuple[S, list[Notice]]:
    """Read a State from a query string: missing keys take their default, foreign keys are ignored."""
    given, valueless = pairs(query), bare(query)
    state = state_type()
    notices: list[Notice] = []
    for declared in fields(state):  # type: ignore[arg-type]
        if declared.name in given:
            kind: Kind = declared.metadata["kind"]
            value, faults = kind.read(declared.name, given[declared.name], declared.default)
            state = replace(state, **{declared.name: value})  # type: ignore[type-var]
            notices += faults
        elif declared.name in valueless:
            notices.append(Notice("bare", declared.name))
    return state, notices


def _written(state: object) -> dict[str, str]:
    return {
        declared.name: declared.metadata["kind"].write(getattr(state, declared.name))
        for declared in fields(state)  # type: ignore[arg-type]
    }


def write(state: object) -> str:
    """Write every key of a State, in the declared order, commas unescaped."""
    return "&".join(f"{key}={text}" for key, text in _written(state).items())


def write_changed(state: object, default: object) -> str:
    """Write only the keys in which ``state`` differs from ``default``."""
    usual = _written(default)
    return "&".join(f"{key}={text}" for key, text in _written(state).items() if text != usual[key])
