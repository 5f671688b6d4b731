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
    """One locker: its number, "used", "locked" (kept, nothing inside) or "free", and whose it is."""

    number: int
    kind: str
    owner: str = ""
    tone: str = ""
    x: int = 0
    y: int = 0


def cells(
    holdings: Iterable[Holding], count: int, columns: int, pitch: int = 36, line: int = 40
) -> tuple[Cell, ...]:
    """Draw ``count`` lockers in rows of ``columns``; distances in units of the picture."""
    state: dict[int, tuple[str, int]] = {}
    for holding in holdings:
        for place, locker in enumerate(holding.lockers):
            state[locker] = ("used" if place < holding.items else "locked", holding.traveller)
    return tuple(_cell(number, state.get(number), columns, pitch, line) for number in range(1, count + 1))


def _cell(number: int, held: tuple[str, int] | None, columns: int, pitch: int, line: int) -> Cell:
    x, y = (number - 1) % columns * pitch, (number - 1) // columns * line
    if held is None:
        return Cell(number, "free", x=x, y=y)
    return Cell(number, held[0], label(held[1]), tone(held[1]), x, y)
