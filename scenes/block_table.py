"""Scene ``block-table``: a cabinet of 16 lockers, and the table that finds the pages again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from scenes.fields import Integer, Integers, Notice, param
from scenes.scene import Action, Event, Scene, View
from sim.block_pool import BlockPool
from sim.block_table import BlockTable

LOCKERS = 16
COLUMNS = 4
OWNERS = ("a", "b", "c")
STRIDE = 5
"""Places by which a page moves along A's and the free lockers when they are laid out another way."""


@dataclass(frozen=True)
class State:
    """The lockers of travellers A, B and C in reading order, and A's page under the finger (from 1)."""

    a: tuple[int, ...] = param(Integers(1, LOCKERS, 0, LOCKERS), (7, 11, 1, 14, 4))
    b: tuple[int, ...] = param(Integers(1, LOCKERS, 0, LOCKERS), (2, 3, 9))
    c: tuple[int, ...] = param(Integers(1, LOCKERS, 0, LOCKERS), (5, 10, 12, 13))
    page: int = param(Integer(1, LOCKERS), 3)


def settle(state: State) -> tuple[State, list[Notice]]:
    """Leave a locker named twice with the first traveller, and keep ``page`` within A's table."""
    taken: set[int] = set()
    notices: list[Notice] = []
    kept: dict[str, tuple[int, ...]] = {}
    for owner in OWNERS:
        own: list[int] = []
        for locker in getattr(state, owner):
            if locker in taken:
                if str(locker) not in (one.given for one in notices):
                    notices.append(Notice("twice", owner, str(locker)))
            else:
                taken.add(locker)
                own.append(locker)
        kept[owner] = tuple(own)
    settled = State(kept["a"], kept["b"], kept["c"], state.page)
    first, last = ranges(settled)["page"]
    if state.page > last:
        notices.append(Notice("number", "page", str(state.page), str(last), str(first), str(last)))
    return replace(settled, page=min(state.page, last)), notices


def ranges(state: State) -> dict[str, tuple[int, int]]:
    """Name the range of the page: it ends with A's table; without any page it is 1."""
    return {"page": (1, max(len(state.a), 1))}


def free_lockers(state: State) -> list[int]:
    """Return the free lockers as the block pool holds them once the three tables are taken out."""
    taken = [*state.a, *state.b, *state.c]
    rest = [n for n in range(1, LOCKERS + 1) if n not in taken]
    pool = BlockPool(LOCKERS + 1, taken + rest)
    pool.take(len(taken))
    return list(pool.free_ids())


def act(state: State, action: Action) -> tuple[State, Event]:
    """Answer page, cell, append, scatter and leave."""
    actions = {"page": _page, "cell": _cell, "append": _append, "scatter": _scatter, "leave": _leave}
    if action.name not in actions:
        raise ValueError(f"action is {action.name!r}, must be one of {', '.join(actions)}")
    return actions[action.name](state, action)


def _page(state: State, action: Action) -> tuple[State, Event]:
    page = action.number(1, max(len(state.a), 1))
    return replace(state, page=page), Event("page")


def _cell(state: State, action: Action) -> tuple[State, Event]:
    locker = action.number(1, LOCKERS)
    for owner in OWNERS:
        table = getattr(state, owner)
        if locker in table:
            page = table.index(locker) + 1
            after = replace(state, page=page) if owner == "a" else state
            return after, Event("cell", {"locker": locker, "owner": owner.upper(), "page": page})
    return state, Event("cell", {"locker": locker, "owner": "", "page": 0})


def _append(state: State, action: Action) -> tuple[State, Event]:
    free = free_lockers(state)
    if not free:
        return state, Event("full")
    table = BlockTable(state.a)
    table.append(free[0])
    return replace(state, a=tuple(table.blocks), page=len(table.blocks)), Event("append", {"locker": free[0]})


def _scatter(state: State, action: Action) -> tuple[State, Event]:
    places = sorted([*state.a, *free_lockers(state)])
    if not state.a:
        return state, Event("scatter", {"moved": False})
    stride = next(
        step for step in range(STRIDE, STRIDE + len(places) + 1) if step % len(places) or len(places) == 1
    )
    moved = tuple(places[(places.index(locker) + stride) % len(places)] for locker in state.a)
    return replace(state, a=moved), Event("scatter", {"moved": moved != state.a})


def _leave(state: State, action: Action) -> tuple[State, Event]:
    return replace(state, b=()), Event("leave", {"lockers": state.b})


def view(state: State) -> View:
    """Compute A's table, the cabinet and the free lockers."""
    free = free_lockers(state)
    quantities = {"a.pages": str(len(state.a)), "free": str(len(free))}
    quantities |= {f"a.page.{page}": str(locker) for page, locker in enumerate(state.a, 1)}
    owners = {
        locker: (owner, page) for owner in OWNERS for page, locker in enumerate(getattr(state, owner), 1)
    }
    parts: dict[str, Any] = {
        "rows": [
            {"page": page, "locker": locker, "selected": page == state.page}
            for page, locker in enumerate(state.a, 1)
        ],
        "grid": [
            [_drawn(n, owners.get(n), state) for n in range(first, first + COLUMNS)]
            for first in range(1, LOCKERS + 1, COLUMNS)
        ],
        "free": free,
        "here": state.a[state.page - 1] if state.a else 0,
        "apart": len(state.a) > 1 and all(abs(there - here) > 1 for here, there in pairwise(state.a)),
        "b_in": bool(state.b),
        "lockers": LOCKERS,
    }
    return View(quantities, parts)


def _drawn(number: int, held: tuple[str, int] | None, state: State) -> dict[str, Any]:
    owner, page = held or ("", 0)
    selected = owner == "a" and page == state.page
    return {"number": number, "owner": owner.upper(), "tone": owner, "page": page, "selected": selected}


def usual(state: State) -> list[Action]:
    """Prepare every page, every locker and the three buttons."""
    actions = [Action("page", "", str(page)) for page in range(1, len(state.a) + 1)]
    actions += [Action("cell", "", str(locker)) for locker in range(1, LOCKERS + 1)]
    return [Action("append"), Action("scatter"), Action("leave"), *actions]


SCENE = Scene("block-table", State, act, view, usual, settle=settle, ranges=ranges)
