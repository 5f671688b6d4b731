"""Scene ``quiz``: four questions, every option explained, the figures from the rules themselves."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from scenes.fields import Choice, Integer, param
from scenes.scene import Action, Event, Scene, View, decimal
from sim import batching, paper, station
from sim.keepers import Admission, PagedKeeper, ReservedKeeper, admit
from sim.station import LIMIT, LOCKERS, NEEDS, WINDOWS, label

OPTIONS = ("A", "B", "C", "D")
RIGHT = {"q1": "B", "q2": "B", "q3": "B", "q4": "C"}
QUESTIONS = tuple(RIGHT)
MOST_SEED = 9999


@dataclass(frozen=True)
class State:
    """The option chosen for each question, empty for none, and the ``seed`` of the order shown."""

    q1: str = param(Choice(("", *OPTIONS)), "")
    q2: str = param(Choice(("", *OPTIONS)), "")
    q3: str = param(Choice(("", *OPTIONS)), "")
    q4: str = param(Choice(("", *OPTIONS)), "")
    seed: int = param(Integer(0, MOST_SEED), 1)


def order(seed: int, question: str) -> list[str]:
    """Return the options in the order shown: chance, but the same for the same seed."""
    options = list(OPTIONS)
    random.Random(seed * len(QUESTIONS) + QUESTIONS.index(question)).shuffle(options)
    return options


def act(state: State, action: Action) -> tuple[State, Event]:
    """Answer q1 to q4 (an option) and again (no answers, another order)."""
    if action.name == "again":
        return State(seed=(state.seed + 1) % (MOST_SEED + 1)), Event("again")
    if action.name not in QUESTIONS or action.value not in OPTIONS:
        raise ValueError(f"action is {action.name!r} with {action.value!r}, must be q1 to q4 with A to D")
    right = RIGHT[action.name] == action.value
    number = QUESTIONS.index(action.name) + 1
    after: State = replace(state, **{action.name: action.value})  # type: ignore[arg-type]
    return after, Event("chosen", {"number": number, "right": right})


def view(state: State) -> View:
    """Compute the score, the order of the options and the figures of the explanations."""
    chosen = {question: getattr(state, question) for question in QUESTIONS}
    score = sum(chosen[question] == RIGHT[question] for question in QUESTIONS)
    parts: dict[str, Any] = {
        "questions": [
            {
                "name": question,
                "number": i,
                "chosen": chosen[question],
                "right": RIGHT[question],
                "order": order(state.seed, question),
            }
            for i, question in enumerate(QUESTIONS, 1)
        ],
        "answered": sum(bool(option) for option in chosen.values()),
        "count": len(QUESTIONS),
        "score": score,
        **facts(),
    }  # fmt: skip
    return View({"score": str(score)}, parts)


def _paged(evening: str) -> Admission:
    return admit(PagedKeeper(LOCKERS, station.scattered(LOCKERS)), station.EVENINGS[evening])


def facts() -> dict[str, Any]:
    """Compute every figure that an explanation names."""
    full, over = _paged("full"), _paged("over")
    reserved = admit(ReservedKeeper(LOCKERS, LIMIT), station.EVENINGS["full"])
    static, continuous = batching.static(NEEDS, WINDOWS), batching.continuous(NEEDS, WINDOWS)
    times = Fraction(len(static.rounds), len(continuous.rounds))
    return {
        "lockers": LOCKERS,
        "limit": LIMIT,
        "six": len(station.FRIDAY),
        "all_full": sum(station.EVENINGS["full"]),
        "admitted": len(full.admitted),
        "reserved_admitted": len(reserved.admitted),
        "used": full.used,
        "left": full.free,
        "over": station.EVENINGS["over"],
        "over_left": over.free,
        "over_needs": over.waiting[0].needs,
        "over_label": label(over.waiting[0].traveller),
        "windows": WINDOWS,
        "longest": max(NEEDS),
        "static": len(static.rounds),
        "continuous": len(continuous.rounds),
        "static_idle": static.idle,
        "continuous_idle": continuous.idle,
        "shorter": max(NEEDS) - (len(static.rounds) - len(continuous.rounds)),
        "ratio": f"{len(static.rounds)} ÷ {len(continuous.rounds)}",
        "times": decimal(times, 2),
        "percent": decimal(100 * (times - 1), 0),
        "unsaved": _unsaved(len(static.rounds)),
        "batch_max": paper.MEAN_BATCH["max"],
        "batch_vllm": paper.MEAN_BATCH["vllm"],
        "block": paper.BLOCK_TOKENS,
    }


def _unsaved(rounds: int) -> tuple[int, ...]:
    """Find an order of the same needs in which both rules take ``rounds`` rounds."""
    needs: tuple[int, ...] = NEEDS
    while not _same(needs, rounds):
        needs = batching.another_order(needs, 1)
    return needs


def _same(needs: tuple[int, ...], rounds: int) -> bool:
    static, continuous = batching.static(needs, WINDOWS), batching.continuous(needs, WINDOWS)
    return len(static.rounds) == len(continuous.rounds) == rounds


def usual(state: State) -> list[Action]:
    """Prepare every option of every question and another try."""
    return [Action(question, "", option) for question in QUESTIONS for option in OPTIONS] + [Action("again")]


SCENE = Scene("quiz", State, act, view, usual)
