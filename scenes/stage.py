"""The one entry to the scenes, used alike at build and in the reader's browser: a question in, an answer out.

Nothing is kept between two calls, so a worker that dies loses nothing. Questions and answers are
JSON texts, which cross from JavaScript to Python most cheaply::

    question  {"scene", "query", "action": null or {"name", "arg", "value"}, "past": bool,
               "computed": "live"|"build"}
    answer    {"scene", "query", "address", "html", "quantities"}
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import scenes
from scenes.fields import SHOWN, Notice
from scenes.render import make_environment
from scenes.scene import Action, Event, Scene, WrongValueError


def _discover() -> dict[str, Scene[Any]]:
    """Find every module of ``scenes`` that defines a ``SCENE``: adding a scene needs no list."""
    found: dict[str, Scene[Any]] = {}
    for info in sorted(pkgutil.iter_modules(scenes.__path__), key=lambda info: info.name):
        if info.name != "stage":
            scene = getattr(importlib.import_module(f"scenes.{info.name}"), "SCENE", None)
            if scene is not None:
                found[scene.name] = scene
    return found


REGISTRY = _discover()
SCENES: tuple[str, ...] = tuple(REGISTRY)
ENVIRONMENT = make_environment()
FRAMES_MOST = 60
"""Prepared answers a scene may have at most, to bound what a page carries."""


@dataclass(frozen=True)
class Answer:
    """What the page needs after an action; ``address`` is the query less all that is the default."""

    scene: str
    query: str
    address: str
    html: str
    quantities: dict[str, str]

    def text(self) -> str:
        """Write the answer as JSON, the same bytes for the same answer."""
        return json.dumps(vars(self), ensure_ascii=False, separators=(",", ":"))


def find(name: str) -> Scene[Any]:
    """Return the scene called ``name``. Raises ValueError naming those there are."""
    if name not in REGISTRY:
        raise ValueError(f"scene is {name!r}, must be one of {', '.join(SCENES)}")
    return REGISTRY[name]


def answer(
    name: str, query: str = "", action: Action | None = None, past: bool = False, computed: str = "live"
) -> Answer:
    """Answer one question: read the state from ``query``, act, compute the view and render it.

    ``past`` tells whether there is a step to go back to. An action that the scene does not have, or a
    value that is no number, changes nothing and is told in a notice; so is a number that had to be brought
    into range. Raises ValueError for an unknown scene.
    """
    scene = find(name)
    state, notices = scene.read(query)
    event: Event | None = None
    if action is not None:
        try:
            state, event = scene.after(state, action)
            notices += [event.correction] if event.correction else []
        except WrongValueError as wrong:
            notices.append(wrong.notice(action.name))
        except ValueError:
            notices.append(Notice("action", "", action.name[:SHOWN]))
    view = scene.view(state)
    full = scene.query(state)
    html = ENVIRONMENT.get_template(f"scenes/{name}.html").render(
        name=name,
        state=state,
        query=full,
        v=view.parts,
        q=view.quantities,
        event=event,
        notices=notices,
        past=past,
        computed=computed,
    )
    return Answer(name, full, scene.address(state), html.strip() + "\n", dict(view.quantities))


def respond(text: str) -> str:
    """Answer a question in JSON with JSON; see the module's docstring. Raises ValueError for bad JSON."""
    question = json.loads(text)
    given = question.get("action")
    action = (
        Action(str(given["name"]), str(given.get("arg", "")), str(given.get("value", ""))) if given else None
    )
    past, computed = bool(question.get("past")), question.get("computed", "live")
    return answer(question["scene"], question["query"], action, past, computed).text()


def key(name: str, query: str, action: Action) -> str:
    """Name the answer to ``action`` in the state ``query``, as the page's script looks it up."""
    return f"{name}?{query}!{action.name}|{action.arg}|{action.value}"


def frames(name: str) -> Iterator[tuple[str, Answer]]:
    """Prepare the answers to the usual next actions, from the default state ``depth`` actions far."""
    scene = find(name)
    border, seen, made = [scene.default()], set(), 0
    for _ in range(scene.depth):
        reached = []
        for state in border:
            query = scene.query(state)
            if query in seen:
                continue
            seen.add(query)
            for action in scene.usual(state):
                if made == FRAMES_MOST:
                    return
                made += 1
                yield key(name, query, action), answer(name, query, action, past=True, computed="build")
                reached.append(scene.after(state, action)[0])
        border = reached
