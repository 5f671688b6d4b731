"""Scene ``admission``: the same travellers before both keepers; who comes in, who waits, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from scenes.fields import Choice, Integers, param
from scenes.scene import Action, Event, Scene, View
from scenes.wall import cells, tone
from sim import station
from sim.keepers import Admission, PagedKeeper, ReservedKeeper, Waiting, admit
from sim.station import LIMIT, LOCKERS, MOST_TRAVELLERS, label

SIX = len(station.FRIDAY)
GUESSES = (4, 5, 6)


@dataclass(frozen=True)
class State:
    """``luggage`` of the travellers in order of arrival; ``order`` is who may go first."""

    luggage: tuple[int, ...] = param(Integers(1, LIMIT, 1, MOST_TRAVELLERS), station.FRIDAY)
    order: str = param(Choice(("fcfs", "skip")), "fcfs")


def both(state: State) -> dict[str, Admission]:
    """Let both keepers decide on the same travellers."""
    return {
        "reserved": admit(ReservedKeeper(LOCKERS, LIMIT), state.luggage, state.order),
        "paged": admit(PagedKeeper(LOCKERS, station.scattered(LOCKERS)), state.luggage, state.order),
    }


def act(state: State, action: Action) -> tuple[State, Event]:
    """Answer preset, items, less, more, six, fewer, order and guess."""
    actions = {"items": _items, "less": _items, "more": _items, "preset": _preset, "six": _six}
    actions |= {"fewer": _fewer, "order": _order, "guess": _guess}
    if action.name not in actions:
        raise ValueError(f"action is {action.name!r}, must be one of {', '.join(actions)}")
    return actions[action.name](state, action)


def _items(state: State, action: Action) -> tuple[State, Event]:
    index = action.index(len(state.luggage))
    items = action.moved(state.luggage[index], 1, LIMIT)
    luggage = (*state.luggage[:index], items, *state.luggage[index + 1:])
    return replace(state, luggage=luggage), Event(
        "items", {"label": label(index), "luggage": items, "index": index}
    )


def _preset(state: State, action: Action) -> tuple[State, Event]:
    if action.value not in station.EVENINGS:
        raise ValueError(f"preset is {action.value!r}, must be one of {', '.join(station.EVENINGS)}")
    return replace(state, luggage=station.EVENINGS[action.value]), Event("preset", {"value": action.value})


def _six(state: State, action: Action) -> tuple[State, Event]:
    before = len(state.luggage)
    luggage = (state.luggage + state.luggage[:SIX])[:MOST_TRAVELLERS]
    return replace(state, luggage=luggage), Event("six", {"added": len(luggage) - before})


def _fewer(state: State, action: Action) -> tuple[State, Event]:
    kept = max(len(state.luggage) - SIX, min(SIX, len(state.luggage)))
    return replace(state, luggage=state.luggage[:kept]), Event("fewer", {"left": len(state.luggage) - kept})


def _order(state: State, action: Action) -> tuple[State, Event]:
    if action.value not in ("fcfs", "skip"):
        raise ValueError(f"order is {action.value!r}, must be fcfs or skip")
    return replace(state, order=action.value), Event("order", {"value": action.value})


def _guess(state: State, action: Action) -> tuple[State, Event]:
    guess = action.number(GUESSES[0], GUESSES[-1])
    after = replace(state, luggage=station.EVENINGS["over"])
    return after, Event("guess", {"guess": guess, "right": guess == len(both(after)["paged"].admitted)})


def view(state: State) -> View:
    """Compute both keepers' counts and walls, and everybody who waits with the figures."""
    results = both(state)
    quantities = {"total": str(sum(state.luggage))}
    for keeper, result in results.items():
        quantities |= _counts(keeper, result)
    parts: dict[str, Any] = {
        "lockers": LOCKERS,
        "limit": LIMIT,
        "full": len(state.luggage) == MOST_TRAVELLERS,
        "preset": next((name for name, items in station.EVENINGS.items() if items == state.luggage), ""),
        "presets": tuple(station.EVENINGS),
        "evenings": _evenings(),
        "guesses": GUESSES,
        "six": SIX,
        "travellers": _travellers(state, results),
        "keepers": {name: _keeper(result) for name, result in results.items()},
        "gain": len(results["paged"].admitted) - len(results["reserved"].admitted),
    }
    return View(quantities, parts)


@lru_cache(maxsize=1)
def _evenings() -> tuple[dict[str, Any], ...]:
    """Compare the evenings at a glance; they never change, so once is enough."""
    return tuple(
        {"name": name, "total": sum(luggage), "count": len(luggage), **both(State(luggage))}
        for name, luggage in station.EVENINGS.items()
    )


def _counts(keeper: str, result: Admission) -> dict[str, str]:
    counts = {
        "admitted": len(result.admitted),
        "used": result.used,
        "empty": result.empty,
        "free": result.free,
        "waiting": len(result.waiting),
    }
    return {f"{keeper}.{name}": str(count) for name, count in counts.items()}


def _travellers(state: State, results: dict[str, Admission]) -> list[dict[str, Any]]:
    held = {name: {one.traveller: one for one in result.admitted} for name, result in results.items()}
    return [
        {
            "index": i,
            "label": label(i),
            "tone": tone(i),
            "luggage": items,
            "reserved": held["reserved"].get(i),
            "paged": held["paged"].get(i),
        }
        for i, items in enumerate(state.luggage)
    ]


def _keeper(result: Admission) -> dict[str, Any]:
    return {
        "cells": cells(result.admitted, LOCKERS, LIMIT),
        "waiting": [_waiting(one) for one in result.waiting],
        "used": result.used,
        "empty": result.empty,
        "free": result.free,
        "admitted": len(result.admitted),
    }


def _waiting(one: Waiting) -> dict[str, Any]:
    return {
        "label": label(one.traveller),
        "tone": tone(one.traveller),
        "luggage": one.items,
        "needs": one.needs,
        "free": one.free,
        "behind": None if one.behind is None else label(one.behind),
        "fits": one.fits,
    }


def usual(state: State) -> list[Action]:
    """Prepare the evenings, the guesses, the steppers, six more and the other order."""
    actions = [Action("preset", "", name) for name in station.EVENINGS]
    actions += [Action("guess", "", str(guess)) for guess in GUESSES]
    actions += [Action("six"), Action("order", "", "skip")]
    actions += [Action(name, str(i)) for i in range(len(state.luggage)) for name in ("less", "more")]
    return actions


SCENE = Scene("admission", State, act, view, usual)
