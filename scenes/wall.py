"""A wall of lockers as drawable cells, for every scene that shows one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sim.keepers import Holding
from sim.station import label

TONES = "abcdef"
"""Colours of travellers; from the seventh on they come round again, and the letter tells them apart."""


def tone(traveller: int) -> str:
    """Return the colour of a traveller, one of ``TONES``."""
    return TONES[traveller % len(TONES)]


@dataclass(frozen=True)
class Cell:
    """One locker: "used", "locked" (kept, nothing inside) or "free", whose it is, how it looks and where.

    ``look`` are the classes and ``place`` the offset in units of the picture, ready to be written.
    """

    kind: str
    look: str
    place: str
    owner: str = ""


def cells(
    holdings: Iterable[Holding], count: int, columns: int, pitch: int = 36, line: int = 40
) -> tuple[Cell, ...]:
    """Draw ``count`` lockers in rows of ``columns``; distances in units of the picture."""
    state: dict[int, tuple[str, int]] = {}
    for holding in holdings:
        for place, locker in enumerate(holding.lockers):
            state[locker] = ("used" if place < holding.items else "locked", holding.traveller)
    places = [f"{n % columns * pitch} {n // columns * line}" for n in range(count)]
    return tuple(_cell(state.get(number), place) for number, place in enumerate(places, 1))


def _cell(held: tuple[str, int] | None, place: str) -> Cell:
    if held is None:
        return Cell("free", "free", place)
    kind, traveller = held
    return Cell(kind, f"{kind} t-{tone(traveller)}", place, label(traveller))
