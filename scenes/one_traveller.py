"""Scene ``one-traveller``: the same luggage under both keepers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scenes.fields import Integer, param
from scenes.scene import Action, Event, Scene, View
from scenes.wall import cells
from sim.keepers import PagedKeeper, ReservedKeeper
from sim.station import LIMIT, scattered

GUESSES = (0, 1, 11)
ALONE = 1
"""Items of the traveller that the reader guesses about."""


@dataclass(frozen=True)
class State:
    """``items`` that the traveller brings."""

    items: int = param(Integer(1, LIMIT), 8)


def act(state: State, action: Action) -> tuple[State, Event]:
    """Answer items (a value), less, more and guess (how many stay empty with one item)."""
    if action.name == "guess":
        guess = action.number(0, LIMIT)
        empty = ReservedKeeper(LIMIT, LIMIT).admit(0, ALONE).empty
        return replace(state, items=ALONE), Event("guess", {"guess": guess, "right": guess == empty})
    if action.name not in ("items", "more", "less"):
        raise ValueError(f"action is {action.name!r}, must be items, less, more or guess")
    items = action.moved(state.items, 1, LIMIT)
    return replace(state, items=items), Event("items", {"items": items})


def view(state: State) -> View:
    """Compute used and empty under either keeper, on a wall of one reservation."""
    old = ReservedKeeper(LIMIT, LIMIT)
    reserved = old.admit(0, state.items)
    keeper = PagedKeeper(LIMIT, scattered(LIMIT))
    paged = keeper.admit(0, state.items)
    quantities = {
        "reserved.used": str(reserved.items),
        "reserved.empty": str(reserved.empty),
        "paged.used": str(paged.items),
        "paged.free": str(keeper.free),
    }
    parts: dict[str, Any] = {
        "reserved": cells([reserved], LIMIT, LIMIT),
        "paged": cells([paged], LIMIT, LIMIT),
        "pages": paged.lockers,
        "limit": LIMIT,
        "empty": reserved.empty,
        "free": keeper.free,
        "others": old.free,
        "guesses": GUESSES,
        "alone": ALONE,
    }
    return View(quantities, parts)


def usual(state: State) -> list[Action]:
    """Prepare every place of the slider, the steps and the guesses."""
    actions = [Action("items", "", str(items)) for items in range(1, LIMIT + 1)]
    return [*actions, Action("less"), Action("more"), *(Action("guess", "", str(guess)) for guess in GUESSES)]


SCENE = Scene("one-traveller", State, act, view, usual)
