"""The ranges of the seven scenes as the design's table states them, written down a second time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sim.batching import continuous, static


def _split(query: str, keys: str) -> list[str]:
    parts = [part.partition("=") for part in query.split("&")]
    if [key for key, _, _ in parts] != keys.split():
        raise ValueError(f"the keys of {query!r} are not {keys}")
    return [value for _, _, value in parts]


def _number(name: str, text: str, low: int, high: int) -> Iterator[str]:
    if not re.fullmatch("0|[1-9][0-9]*", text) or not low <= int(text) <= high:
        yield f"{name} is {text!r}, not {low} to {high}"


def _list(name: str, text: str, low: int, high: int, least: int, most: int) -> Iterator[str]:
    items = text.split(",") if text else []
    if not least <= len(items) <= most:
        yield f"{name} has {len(items)} items, not {least} to {most}"
    for item in items:
        yield from _number(name, item, low, high)


def growth(query: str) -> Iterator[str]:
    """`step` 0..4."""
    (step,) = _split(query, "step")
    yield from _number("step", step, 0, 4)


def one_traveller(query: str) -> Iterator[str]:
    """`items` 1..12."""
    (items,) = _split(query, "items")
    yield from _number("items", items, 1, 12)


def admission(query: str) -> Iterator[str]:
    """`luggage` 1 to 36 values 1..12, `order` fcfs or skip."""
    luggage, order = _split(query, "luggage order")
    yield from _list("luggage", luggage, 1, 12, 1, 36)
    if order not in ("fcfs", "skip"):
        yield f"order is {order!r}"


def block_table(query: str) -> Iterator[str]:
    """`a` `b` `c` lockers of 16, each with one owner; `page` one of A's, or 1."""
    a, b, c, page = _split(query, "a b c page")
    for name, text in (("a", a), ("b", b), ("c", c)):
        yield from _list(name, text, 1, 16, 0, 16)
    lockers = [item for text in (a, b, c) for item in text.split(",") if item]
    if len(lockers) != len(set(lockers)):
        yield f"a locker with two owners: {query}"
    yield from _number("page", page, 1, max(len(a.split(",")), 1))


def batching(query: str) -> Iterator[str]:
    """`needs` 1 to 12 values 1..12, `windows` 1..6, `round` 0..last."""
    needs, windows, number = _split(query, "needs windows round")
    wrong = [*_list("needs", needs, 1, 12, 1, 12), *_number("windows", windows, 1, 6)]
    yield from wrong
    if not wrong:
        rounds = tuple(map(int, needs.split(",")))
        last = max(len(rule(rounds, int(windows)).rounds) for rule in (static, continuous))
        yield from _number("round", number, 0, last)


def engine_map(query: str) -> Iterator[str]:
    """`round` 0..last, which is 16 for the stated workload."""
    (number,) = _split(query, "round")
    yield from _number("round", number, 0, 16)


def quiz(query: str) -> Iterator[str]:
    """`q1` to `q4` A..D or nothing, and a `seed`."""
    *chosen, seed = _split(query, "q1 q2 q3 q4 seed")
    yield from (f"{option!r} is no option" for option in chosen if option not in ("", "A", "B", "C", "D"))
    yield from _number("seed", seed, 0, 9999)


RANGES: dict[str, Callable[[str], Iterator[str]]] = {
    "growth": growth,
    "one-traveller": one_traveller,
    "admission": admission,
    "block-table": block_table,
    "batching": batching,
    "engine-map": engine_map,
    "quiz": quiz,
}
