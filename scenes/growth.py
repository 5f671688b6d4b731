"""Scene ``growth``: one traveller's luggage as the answer is written, append only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scenes.fields import Integer, param
from scenes.scene import Action, Event, Scene, View
from sim.keepers import ReservedKeeper
from sim.station import GROWTH, LIMIT

LAST = len(GROWTH) - 1


@dataclass(frozen=True)
class State:
    """``step`` is how many parts of the answer have been added to the question."""

    step: int = param(Integer(0, LAST), 2)


def act(state: State, action: Action) -> tuple[State, Event]:
    """Answer more (one part further), less (one back) and step (a value)."""
    if action.name not in ("more", "less", "step"):
        raise ValueError(f"action is {action.name!r}, must be more, less or step")
    step = action.moved(state.step, 0, LAST)
    return replace(state, step=step), Event("step", {"from": GROWTH[state.step], "moved": step != state.step})


def view(state: State) -> View:
    """Compute the items of every step, which of them are new, and what the old keeper keeps empty."""
    items = GROWTH[state.step]
    quantities = {
        "items": str(items),
        "added": str(_added(state.step)),
        "next_locker": "" if items == LIMIT else str(items + 1),
        "reserved.empty": str(ReservedKeeper(LIMIT, LIMIT).admit(0, items).empty),
    }
    parts: dict[str, Any] = {
        "rows": [_row(step, state.step) for step in range(LAST + 1)],
        "count": items,
        "added": _added(state.step),
        "limit": LIMIT,
        "full": items == LIMIT,
        "last": LAST,
        "steps": LAST + 1,
        "next": items + 1,
    }
    return View(quantities, parts)


def _added(step: int) -> int:
    return GROWTH[step] - (GROWTH[step - 1] if step else 0)


def _row(step: int, now: int) -> dict[str, Any]:
    items, before = GROWTH[step], GROWTH[step] - _added(step)
    cells = [("old" if n <= before else "new" if n <= items else "free") for n in range(1, LIMIT + 1)]
    return {
        "step": step,
        "count": items,
        "cells": cells,
        "when": "now" if step == now else "past" if step < now else "later",
    }


def usual(state: State) -> list[Action]:
    """Prepare one step either way and every place of the slider."""
    return [Action("more"), Action("less"), *(Action("step", "", str(step)) for step in range(LAST + 1))]


SCENE = Scene("growth", State, act, view, usual, depth=LAST + 1)
