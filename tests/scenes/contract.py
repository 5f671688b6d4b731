"""What holds for every fragment of every scene, those that come later too. Findings are told, not raised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scenes import stage
from scenes.scene import Scene
from tests.scenes.fragment import Element, label_of
from tests.scenes.walks import Step, seen

FIGURE = re.compile(r"-?[0-9]+(\.[0-9]+)?")
MAY_BE_EMPTY = {("growth", "next_locker")}
"""Figures that the contract lets be empty."""
HOLDERS = ("b", "td", "dd", "data")
CONTROLS = ("button", "input", "select", "textarea")
POINTERS = ("aria-labelledby", "aria-describedby", "aria-controls", "for")
FORBIDDEN_TAGS = ("style", "script", "link", "img", "iframe", "object", "form", "output", "a")
LEAKS = re.compile(
    r"built-in|\bat 0x|<function|\bNone\b|\bTrue\b|\bFalse\b|Undefined|Fraction\(|\bnan\b|\binf\b|dict_|"
    r"set\(|\{\{|\}\}|\{%|%\}|\[['\"]|\(['\"]"
)


def findings(step: Step) -> Iterator[str]:
    """Everything that is wrong with the answer to one question."""
    answer = step.answer
    root = seen(answer.html)
    for check in (_frame, _ids, _figures, _status, _named, _policy, _settings):
        yield from check(root, step)
    yield from _leaks(root, step)
    yield from _state(step)


def _frame(root: Element, step: Step) -> Iterator[str]:
    wanted = {"id": step.scene, "data-scene": step.scene, "data-state": step.answer.query}
    wanted["data-computed"] = "live"
    for name, value in wanted.items():
        if root.attributes.get(name) != value:
            yield f"{name} is {root.attributes.get(name)!r}, not {value!r}"
    if root.tag != "section" or "scene" not in root.attributes.get("class", "").split():
        yield "the root is no section.scene"


def _ids(root: Element, step: Step) -> Iterator[str]:
    ids = [one.attributes["id"] for one in root.walk() if "id" in one.attributes]
    yield from (f"id {name!r} twice" for name in set(ids) if ids.count(name) > 1)
    foreign = [name for name in ids if not f"{name}-".startswith(f"{step.scene}-")]
    yield from (f"id {name!r} is not of the scene" for name in foreign)
    for one in root.walk():
        pointed = [name for key in POINTERS for name in one.attributes.get(key, "").split()]
        for value in one.attributes.values():
            pointed += re.findall(r"url\(#([^)]*)\)", value)
        yield from (f"<{one.tag}> points to #{name}, not there" for name in pointed if name not in ids)


def _figures(root: Element, step: Step) -> Iterator[str]:
    quantities = step.answer.quantities
    shown = [one for one in root.walk() if "data-quantity" in one.attributes]
    for one in shown:
        name = one.attributes["data-quantity"]
        if one.tag not in HOLDERS:
            yield f"{name} stands on a <{one.tag}>"
        if one.text != quantities.get(name):
            yield f"{name} shows {one.text!r}, the answer says {quantities.get(name)!r}"
    missing = quantities.keys() - {one.attributes["data-quantity"] for one in shown}
    yield from (f"{name} is shown nowhere" for name in sorted(missing))
    yield from bad_figures(step.scene, quantities)


def bad_figures(scene: str, quantities: dict[str, str]) -> Iterator[str]:
    """Figures that are none: each must be plain ASCII digits that `float()` reads."""
    for name, text in quantities.items():
        if not FIGURE.fullmatch(text) and not (text == "" and (scene, name) in MAY_BE_EMPTY):
            yield f"{name} is {text!r}, no figure"


def _status(root: Element, step: Step) -> Iterator[str]:
    found = root.find(role="status")
    if len(found) != 1:
        yield f"{len(found)} elements of role status"
    for one in found:
        if not one.text.strip():
            yield "the status says nothing"
        # a correction stands on a line of its own, what matters most is strong, a reader's own text keeps
        # its direction to itself, and nothing else is inside
        notices = {id(inner) for inner in one.walk() if "notice" in inner.attributes.get("class", "").split()}
        others = [inner for inner in one.walk() if inner.tag not in ("b", "bdi") and id(inner) not in notices]
        if others != [one]:
            yield f"the status holds {[inner.tag for inner in one.walk()]}"
    live = [one.tag for one in root.walk() if "aria-live" in one.attributes]
    yield from (f"<{tag}> is a live region of its own" for tag in live)


def _named(root: Element, step: Step) -> Iterator[str]:
    for one in root.walk():
        if "data-action" in one.attributes and one.tag not in CONTROLS:
            yield f"an action on a <{one.tag}>"
        if one.tag in CONTROLS:
            if not label_of(root, one):
                yield f"a <{one.tag}> without a name: {one.attributes}"
            if "id" not in one.attributes or not one.attributes.get("data-action"):
                yield f"a <{one.tag}> without id or action: {one.attributes}"
            if one.tag == "button" and one.attributes.get("type") != "button":
                yield f"a button that would submit: {one.attributes}"


def _policy(root: Element, step: Step) -> Iterator[str]:
    for one in root.walk():
        if one.tag in FORBIDDEN_TAGS:
            yield f"a <{one.tag}>"
        for name in one.attributes:
            if name in ("style", "src", "href", "action", "disabled") or name.startswith("on"):
                yield f"{name} on a <{one.tag}>"
    if re.search(r"//|\.[0-9a-f]{8,}\.", "".join(v for one in root.walk() for v in one.attributes.values())):
        yield "an address or a hashed name in an attribute"


def _settings(root: Element, step: Step) -> Iterator[str]:
    """What stands in the controls: one choice of each, numbers within their ends, one Tab stop in a grid."""
    groups: dict[str, int] = {}
    for one in root.find("input", type="radio"):
        name = one.attributes["name"]
        groups[name] = groups.get(name, 0) + ("checked" in one.attributes)
    yield from (f"{count} of {name} are checked" for name, count in groups.items() if count > 1)
    for kind in ("range", "number"):
        for one in root.find("input", type=kind):
            low, value, high = (int(one.attributes[name]) for name in ("min", "value", "max"))
            if not low <= value <= high:
                yield f"{one.attributes['id']} is {value}, not {low} to {high}"
    for one in root.find("select"):
        if len([option for option in one.find("option") if "selected" in option.attributes]) != 1:
            yield f"{one.attributes['id']} does not show one option"
    for grid in root.find(role="grid"):
        stops = [one for one in grid.find(tabindex="0") if "data-cell" in one.attributes]
        if len(stops) != 1:
            yield f"{len(stops)} Tab stops in a grid"


def _leaks(root: Element, step: Step) -> Iterator[str]:
    """Python's own words, and more decimals than a reader wants; only notices repeat what a reader wrote."""
    (status,) = root.find(role="status")
    loose = [one for one in root.walk() if one is not status and one.inside("p") is not status]
    texts = [child for one in loose for child in one.children if isinstance(child, str)]
    texts += [value for one in root.walk() for name, value in one.attributes.items() if name != "data-state"]
    if is_plain(step):
        texts.append(status.text)
    for text in texts:
        if LEAKS.search(text) or re.search(r"[0-9]\.[0-9]{3}", text):
            yield f"leaks {text.strip()[:80]!r}"


def is_plain(step: Step) -> bool:
    """Whether the question was all right, so that the answer need not correct it."""
    scene = stage.find(step.scene)
    state, notices = scene.read(step.query)
    return not notices and (step.action is None or accepts(scene, state, step.action))


def accepts(scene: Scene[Any], state: Any, action: Any) -> bool:
    """Whether the scene does the action."""
    try:
        scene.after(state, action)
    except ValueError:
        return False
    return True


def _state(step: Step) -> Iterator[str]:
    """The state of the answer is in range, and both of its texts lead back to it."""
    scene = stage.find(step.scene)
    for text in (step.answer.query, step.answer.address):
        state, notices = scene.read(text)
        if notices:
            yield f"{text!r} is not in range: {notices}"
        if (scene.query(state), scene.address(state)) != (step.answer.query, step.answer.address):
            yield f"{text!r} leads to {scene.query(state)!r} and {scene.address(state)!r}"
    if not re.fullmatch(r"[A-Za-z0-9=&,_+.-]*", step.answer.query):
        yield f"the query {step.answer.query!r} holds what an address would escape"
