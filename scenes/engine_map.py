"""Scene ``engine-map``: a small working vLLM, round by round: requests, batch, blocks, tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scenes.fields import Integer, param
from scenes.scene import Action, Event, Scene, View
from scenes.wall import cells, tone
from sim.events import AdmittedEvent, Arrived, BlockTaken, FinishedEvent, WaitingEvent
from sim.keepers import Holding
from sim.station import LIMIT, LOCKERS, WINDOWS
from sim.workload import BLOCK_TOKENS, EVENING, Round, play

ROUNDS = play()
LAST = len(ROUNDS) - 1
NAMES = [visitor.name for visitor in EVENING]


def _seats() -> list[dict[str, int]]:
    """Give everybody who runs a window to keep, the first that is free, round by round.

    vLLM's list of running requests closes up when one leaves; a window at a station does not move.
    """
    seats: list[dict[str, int]] = []
    held: dict[str, int] = {}
    for now in ROUNDS:
        names = [one.name for one in now.running]
        held = {name: window for name, window in held.items() if name in names}
        for name in names:
            if name not in held:
                held[name] = next(w for w in range(WINDOWS) if w not in held.values())
        seats.append(dict(held))
    return seats


SEATS = _seats()


@dataclass(frozen=True)
class State:
    """``round`` on show; at 10 a window stands free because the head of the queue finds too few blocks."""

    round: int = param(Integer(0, LAST), 10)


def act(state: State, action: Action) -> tuple[State, Event]:
    """Answer round (a value), next, previous and first."""
    if action.name == "round":
        now = action.number(0, LAST)
    elif action.name in ("next", "previous", "first"):
        now = {"next": state.round + 1, "previous": state.round - 1, "first": 0}[action.name]
    else:
        raise ValueError(f"action is {action.name!r}, must be round, next, previous or first")
    return replace(state, round=min(max(now, 0), LAST)), Event("round")


def view(state: State) -> View:
    """Compute who runs and waits, and why, the blocks on the wall, and what happened in this round."""
    now = ROUNDS[state.round]
    quantities = {
        "running": str(len(now.running)),
        "waiting": str(len(now.waiting)),
        "blocks.used": str(now.used),
        "blocks.free": str(now.free),
        "tokens": str(now.tokens),
    }
    holdings = [Holding(NAMES.index(one.name), len(one.blocks), one.blocks) for one in now.running]
    parts: dict[str, Any] = {
        "last": LAST,
        "cells": cells(holdings, LOCKERS, LIMIT),
        "windows": [_window(now, SEATS[state.round], w) for w in range(WINDOWS)],
        "queue": [{"label": name, "tone": tone(NAMES.index(name))} for name in now.waiting],
        "waits": [_wait(event) for event in now.events if isinstance(event, WaitingEvent)],
        "log": [_logged(number) for number in range(1, LAST + 1)],
        "lockers": LOCKERS,
        "block": BLOCK_TOKENS,
        "slots": WINDOWS,
        "visitors": [
            {"label": v.name, "arrival": v.arrival, "prompt": v.prompt, "answers": v.answers, "tone": tone(i)}
            for i, v in enumerate(EVENING)
        ],
        "given": len(now.running),
        **_happened(now),
    }
    return View(quantities, parts)


def _window(now: Round, seats: dict[str, int], window: int) -> dict[str, Any] | None:
    one = next((one for one in now.running if seats[one.name] == window), None)
    return None if one is None else {
        "label": one.name,
        "tone": tone(NAMES.index(one.name)),
        "answers": one.answers,
        "most": EVENING[NAMES.index(one.name)].answers,
        "blocks": len(one.blocks),
        "first": one.first,
        "done": one.done,
    }


def _wait(event: WaitingEvent) -> dict[str, Any]:
    return {
        "label": event.request,
        "why": event.why,
        "needs": event.needs,
        "free": event.free,
        "behind": event.behind,
    }


def _happened(now: Round) -> dict[str, Any]:
    came = [event.request for event in now.events if isinstance(event, AdmittedEvent)]
    grown = [
        event.request for event in now.events if isinstance(event, BlockTaken) and event.request not in came
    ]
    return {
        "arrived": [event.request for event in now.events if isinstance(event, Arrived)],
        "came": [{"label": name, "blocks": len(_blocks(now, name))} for name in came],
        "grown": list(dict.fromkeys(grown)),
        "done": [event.request for event in now.events if isinstance(event, FinishedEvent)],
    }


def _blocks(now: Round, name: str) -> tuple[int, ...]:
    return next(one.blocks for one in now.running if one.name == name)


def _logged(number: int) -> dict[str, Any]:
    now = ROUNDS[number]
    return {
        "round": number,
        "running": [one.name for one in now.running],
        "waiting": now.waiting,
        "used": now.used,
        "free": now.free,
        "tokens": now.tokens,
        **_happened(now),
    }


def usual(state: State) -> list[Action]:
    """Prepare every round."""
    steps = [Action("next"), Action("previous"), Action("first")]
    return steps + [Action("round", "", str(number)) for number in range(LAST + 1)]


SCENE = Scene("engine-map", State, act, view, usual)
