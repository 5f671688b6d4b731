"""The station of the lesson: its sizes, its travellers and the evenings that can be chosen.

Data only; every rule lives in the other modules of ``sim``. Lengths are counted in lockers, one
locker being one KV cache block, and luggage in items that each fill one locker exactly.
"""

from __future__ import annotations

from math import gcd

from sim.checks import in_range

LOCKERS = 60
"""Lockers on the wall: KV cache blocks that all requests share."""

LIMIT = 12
"""Most items one traveller may bring: the longest request that the station serves."""

WINDOWS = 3
"""Service windows: batch slots."""

MOST_TRAVELLERS = 36
"""Longest queue a reader may build, six evenings of six travellers."""

GROWTH = (3, 5, 8, 10, 12)
"""Items of one traveller after each part of the answer; append only, the last is the limit."""

FRIDAY = (8, 5, 10, 3, 7, 6)
"""Luggage of travellers A to F on an ordinary Friday."""

EVENINGS: dict[str, tuple[int, ...]] = {
    "friday": FRIDAY,
    "light": (2, 1, 3, 1, 2, 2),
    "exact": (10, 10, 10, 10, 10, 10),
    "over": (12, 11, 12, 10, 11, 9),
    "full": (12, 12, 12, 12, 12, 12),
    "queue": (12, 11, 12, 10, 11, 9, 3, 1, 4),
}
"""Evenings by name, each the luggage of the travellers in their order of arrival."""

NEEDS = (6, 2, 3, 2, 1, 2)
"""Rounds that travellers A to F need at a window."""


def scattered(count: int) -> list[int]:
    """Return the ids 1..``count`` in an order in which neighbours lie far apart.

    It stands for a wall that earlier guests left in no order, and is the same every time: steps of about the
    golden section of the wall, and sharing no factor with it, so that every id is met once.
    Raises ValueError if ``count`` is below 1.
    """
    in_range("count", count, 1)
    stride = next(step for step in range(max(count * 618 // 1000, 1), count + 2) if gcd(step, count) == 1)
    return [place * stride % count + 1 for place in range(1, count + 1)]


def label(index: int) -> str:
    """Name the traveller at ``index`` (from 0) as spreadsheets name columns: A..Z, AA..AZ, BA...

    Raises ValueError unless ``index`` is a whole number from 0.
    """
    name = ""
    left = in_range("index", index, 0) + 1
    while left:
        left, letter = divmod(left - 1, 26)
        name = chr(65 + letter) + name
    return name
