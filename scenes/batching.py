"""Scene ``batching``: the same travellers at the same windows, in batches and round by round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scenes.fields import Integer, Integers, Latest, Notice, param
from scenes.scene import Action, Event, Scene, View, decimal
from scenes.wall import tone
from sim import batching
from sim.batching import MOST_NEED, MOST_TRAVELLERS, MOST_WINDOWS, Timetable
from sim.station import NEEDS, WINDOWS, label

MOST_ROUNDS = MOST_NEED * MOST_TRAVELLERS
GUESSES = (0, 1, 2, 3)
"""Rounds that continuous batching may save when the longest comes last."""
LATE = (2, 3, 2, 1, 2, 6)
"""The lesson's six needs with the longest last: an order in which nothing is saved."""
PRESETS = {"lesson": NEEDS, "late": LATE, "even": (3, 3, 3, 3, 3, 3)}


@dataclass(frozen=True)
class State:
    """``needs`` in rounds, in order of arrival; ``round`` shown, None for the last there is."""

    needs: tuple[int, ...] = param(Integers(1, MOST_NEED, 1, MOST_TRAVELLERS), NEEDS)
    windows: int = param(Integer(1, MOST_WINDOWS), WINDOWS)
    round: int | None = param(Latest(0, MOST_ROUNDS), None)


def both(state: State) -> dict[str, Timetable]:
    """Run both rules on the same needs."""
    return {
        "static": batching.static(state.needs, state.windows),
        "continuous": batching.continuous(state.needs, state.windows),
    }


def saved(runs: dict[str, Timetable]) -> int:
    """Return the rounds that continuous batching saves."""
    return len(runs["static"].rounds) - len(runs["continuous"].rounds)


def last_round(state: State) -> int:
    """Return the last round of the longer run."""
    return max(len(run.rounds) for run in both(state).values())


def settle(state: State) -> tuple[State, list[Notice]]:
    """Write the last round as None, so that it stays the last when the needs change."""
    last = last_round(state)
    if state.round is None or state.round < last:
        return state, []
    notices = (
        [Notice("number", "round", str(state.round), str(last), "0", str(last))] if state.round > last else []
    )
    return replace(state, round=None), notices


def ranges(state: State) -> dict[str, tuple[int, int]]:
    """Name the range of the round: it ends with the longer run."""
    return {"round": (0, last_round(state))}


def resolve(state: State) -> State:
    """Fill in the number of the last round."""
    return state if state.round is not None else replace(state, round=last_round(state))


def act(state: State, action: Action) -> tuple[State, Event]:
    """Answer what turns rounds, what changes needs and windows, and the guess; see ``actions``."""
    actions = {"round": _round, "next": _turn, "previous": _turn, "first": _turn, "guess": _guess}
    actions |= {"needs": _needs, "less": _needs, "more": _needs, "preset": _preset, "shuffle": _shuffle}
    actions |= {"add": _add, "drop": _drop, "windows": _windows}
    if action.name not in actions:
        raise ValueError(f"action is {action.name!r}, must be one of {', '.join(actions)}")
    return actions[action.name](state, action)


def _round(state: State, action: Action) -> tuple[State, Event]:
    return replace(state, round=action.number(0, last_round(state))), Event("round")


def _turn(state: State, action: Action) -> tuple[State, Event]:
    last = last_round(state)
    now = last if state.round is None else state.round
    turned = {"next": now + 1, "previous": now - 1, "first": 0}[action.name]
    return replace(state, round=min(max(turned, 0), last)), Event("round")


def _needs(state: State, action: Action) -> tuple[State, Event]:
    index = action.index(len(state.needs))
    need = action.moved(state.needs[index], 1, MOST_NEED)
    needs = (*state.needs[:index], need, *state.needs[index + 1:])
    return replace(state, needs=needs), Event("needs", {"label": label(index), "need": need})


def _preset(state: State, action: Action) -> tuple[State, Event]:
    if action.value not in PRESETS:
        raise ValueError(f"preset is {action.value!r}, must be one of {', '.join(PRESETS)}")
    return replace(state, needs=PRESETS[action.value], round=None), Event("preset", {"value": action.value})


def _shuffle(state: State, action: Action) -> tuple[State, Event]:
    return replace(state, needs=batching.another_order(state.needs), round=None), Event("shuffle")


def _add(state: State, action: Action) -> tuple[State, Event]:
    if len(state.needs) == MOST_TRAVELLERS:
        return state, Event("most")
    return replace(state, needs=(*state.needs, 2)), Event("add", {"label": label(len(state.needs))})


def _drop(state: State, action: Action) -> tuple[State, Event]:
    if len(state.needs) == 1:
        return state, Event("least")
    return replace(state, needs=state.needs[:-1]), Event("drop", {"label": label(len(state.needs) - 1)})


def _windows(state: State, action: Action) -> tuple[State, Event]:
    windows = action.number(1, MOST_WINDOWS)
    return replace(state, windows=windows), Event("windows", {"windows": windows})


def _guess(state: State, action: Action) -> tuple[State, Event]:
    guess = action.number(GUESSES[0], GUESSES[-1])
    after = State(LATE)
    return after, Event("guess", {"guess": guess, "right": guess == saved(both(after))})


def view(state: State) -> View:
    """Compute both timetables, what happened in the round on show, and the figures of the whole runs."""
    runs = both(state)
    last = last_round(state)
    now = last if state.round is None else state.round
    quantities: dict[str, str] = {}
    for rule, run in runs.items():
        quantities |= _figures(rule, run)
    quantities["static.mean_return"] = decimal(runs["static"].mean_return, 2)
    travellers = [
        {"index": i, "label": label(i), "tone": tone(i), "need": need,
         "static": runs["static"].finish[i], "continuous": runs["continuous"].finish[i]}
        for i, need in enumerate(state.needs)
    ]  # fmt: skip
    parts: dict[str, Any] = {
        "now": now,
        "last": last,
        "room": sum(last > most for most in (10, 20, 40, 80)),
        "rules": {rule: _drawn(run, now, last) for rule, run in runs.items()},
        "log": [_logged(runs, r) for r in range(last)],
        "travellers": travellers,
        "saved": saved(runs),
        "static": runs["static"],
        "continuous": runs["continuous"],
        "events": _events(runs["continuous"], now),
        "preset": next((name for name, needs in PRESETS.items() if needs == state.needs), ""),
        "presets": tuple(PRESETS),
        "guesses": GUESSES,
        "most_need": MOST_NEED,
        "most_windows": MOST_WINDOWS,
        "most": len(state.needs) == MOST_TRAVELLERS,
        "longest": travellers[max(range(len(state.needs)), key=lambda i: state.needs[i])],
        "usual_windows": WINDOWS,
        "alike": len(set(state.needs)) == 1,
    }  # fmt: skip
    return View(quantities, parts)


def _figures(rule: str, run: Timetable) -> dict[str, str]:
    return {
        f"{rule}.rounds": str(len(run.rounds)),
        f"{rule}.slots": str(run.slots),
        f"{rule}.idle": str(run.idle),
        f"{rule}.mean_finish": decimal(run.mean_finish, 2),
    }


def _drawn(run: Timetable, now: int, last: int) -> list[list[dict[str, Any]]]:
    return [[_slot(run, r, w, now) for r in range(last)] for w in range(run.windows)]


def _slot(run: Timetable, r: int, w: int, now: int) -> dict[str, Any]:
    if r >= len(run.rounds):
        return {"kind": "none", "label": "", "tone": "", "done": False}
    traveller = run.rounds[r][w]
    kind = "later" if r >= now else "idle" if traveller is None else "busy"
    if traveller is None:
        return {"kind": kind, "label": "", "tone": "", "done": False}
    return {
        "kind": kind,
        "label": label(traveller),
        "tone": tone(traveller),
        "done": run.finish[traveller] == r + 1,
    }


def _logged(runs: dict[str, Timetable], r: int) -> dict[str, Any]:
    row: dict[str, Any] = {"round": r + 1}
    for rule, run in runs.items():
        here = run.rounds[r] if r < len(run.rounds) else None
        row[rule] = None if here is None else ["" if i is None else label(i) for i in here]
        row[f"{rule}_done"] = [label(i) for i, finish in enumerate(run.finish) if finish == r + 1]
    row["came"] = _came(runs["continuous"], r)
    return row


def _came(run: Timetable, r: int) -> list[dict[str, Any]]:
    if r == 0 or r >= len(run.rounds):
        return []
    pairs = enumerate(zip(run.rounds[r - 1], run.rounds[r], strict=True), 1)
    return [{"label": label(new), "window": w} for w, (old, new) in pairs if new is not None and new != old]


def _events(run: Timetable, now: int) -> dict[str, Any]:
    """Tell what happened under continuous batching in round ``now`` (from 1): who came, was done, waits."""
    done = [label(i) for i, finish in enumerate(run.finish) if finish == now]
    seen = {i for row in run.rounds[:now] for i in row}
    waiting = [label(i) for i in range(len(run.needs)) if i not in seen]
    idle = run.rounds[now - 1].count(None) if 0 < now <= len(run.rounds) else 0
    return {"came": _came(run, now - 1) if now else [], "done": done, "waiting": waiting, "idle": idle}


def usual(state: State) -> list[Action]:
    """Prepare every round of the lesson's six, the presets, the steppers and the guesses."""
    actions = [Action("round", "", str(r)) for r in range(last_round(state) + 1)]
    actions += [Action("preset", "", name) for name in PRESETS] + [
        Action("shuffle"),
        Action("previous"),
        Action("first"),
    ]
    actions += [Action("guess", "", str(guess)) for guess in GUESSES]
    actions += [Action(name, str(i)) for i in range(len(state.needs)) for name in ("less", "more")]
    return actions + [Action("windows", "", str(n)) for n in range(1, MOST_WINDOWS + 1)]


SCENE = Scene("batching", State, act, view, usual, settle=settle, ranges=ranges, resolve=resolve)
