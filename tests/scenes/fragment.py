"""Reading a fragment as a browser and a screen reader would: elements, names, figures, controls."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import chain

VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "source", "wbr"))
PAGE_OWN = ("back", "copy-link", "retry", "speed")
"""Actions that the page's script does itself and never asks Python."""


@dataclass
class Element:
    """One element with its attributes and what is inside; text is a plain string."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)
    _all: list[Element] = field(default_factory=list, repr=False)

    @property
    def text(self) -> str:
        """All text inside, as it stands."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def walk(self) -> list[Element]:
        """This element and all inside, in the order of the page; remembered, as a tree stays as it is."""
        if not self._all:
            inner = (child.walk() for child in self.children if isinstance(child, Element))
            self._all = [self, *chain.from_iterable(inner)]
        return self._all

    def find(self, tag: str = "", **attributes: str) -> list[Element]:
        """Every element inside with this tag and these attributes; an underscore stands for a dash."""
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        tagged = [one for one in self.walk() if tag in ("", one.tag)]
        return [one for one in tagged if wanted.items() <= one.attributes.items()]

    def inside(self, tag: str) -> Element | None:
        """The nearest element around this one that has the tag."""
        around = self.parent
        while around is not None and around.tag != tag:
            around = around.parent
        return around


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.top = self.here = Element("", {})

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            raise ValueError(f"<{tag}> names an attribute twice: {names}")
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag != self.here.tag or self.here.parent is None:
            raise ValueError(f"</{tag}> closes <{self.here.tag}>")
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.children.append(data)


def parse(html: str) -> Element:
    """The root element of a fragment. Raises ValueError unless it is one well nested element."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    roots = [child for child in builder.top.children if isinstance(child, Element)]
    loose = "".join(child for child in builder.top.children if isinstance(child, str)).strip()
    if builder.here is not builder.top or len(roots) != 1 or loose:
        raise ValueError(f"not one whole element: {html[:80]!r}")
    return roots[0]


def label_of(root: Element, control: Element) -> str:
    """The accessible name of a control, from where the standard takes it."""
    attributes = control.attributes
    if attributes.get("aria-labelledby"):
        wanted = attributes["aria-labelledby"].split()
        return " ".join(one.text for name in wanted for one in root.find(id=name)).strip()
    if attributes.get("aria-label", "").strip():
        return attributes["aria-label"].strip()
    if control.tag == "button":
        return control.text.strip()
    around = control.inside("label")
    named = [around] if around else root.find("label", **{"for": attributes.get("id", "")})
    return " ".join(one.text for one in named).strip()


@dataclass(frozen=True)
class Control:
    """What a control can send: action, argument, and the values it offers; free if a reader types it."""

    action: str
    arg: str
    values: tuple[str, ...]
    free: bool = False


def controls(root: Element) -> list[Control]:
    """Every control of a fragment that asks Python something, those that are said to be disabled too."""
    found = []
    for one in root.walk():
        action = one.attributes.get("data-action", "")
        if action and action not in PAGE_OWN:
            found += _offered(one, action)
    return found


def _offered(one: Element, action: str) -> list[Control]:
    arg = one.attributes.get("data-arg", "")
    if action == "play":
        steps = (one.attributes["data-step"], one.attributes.get("data-first", ""))
        return [Control(step, arg, ("",)) for step in steps if step]
    kind = one.attributes.get("type", "")
    if one.tag == "select":
        return [Control(action, arg, tuple(option.attributes["value"] for option in one.find("option")))]
    if kind in ("range", "number"):
        low, high = int(one.attributes["min"]), int(one.attributes["max"])
        values = tuple(str(number) for number in range(low, high + 1))
        return [Control(action, arg, values, free=kind == "number")]
    return [Control(action, arg, (one.attributes.get("value", ""),))]
