"""Read a scene from a page as a teacher's own script would: by the public contract, never by our code."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page

FIGURE = re.compile(r"[0-9]+(\.[0-9]+)?")
MAY_BE_EMPTY = {"next_locker"}
PATIENCE = 30.0
"""Seconds until something awaited has not come: for a machine that is busy, not a measure of anything."""

SCENES = ("growth", "one-traveller", "admission", "block-table", "batching", "engine-map", "quiz")
DEFAULTS = {
    "growth": "step=2",
    "one-traveller": "items=8",
    "admission": "luggage=8,5,10,3,7,6&order=fcfs",
    "block-table": "a=7,11,1,14,4&b=2,3,9&c=5,10,12,13&page=3",
    "batching": "needs=6,2,3,2,1,2&windows=3&round=8",
    "engine-map": "round=10",
    "quiz": "q1=&q2=&q3=&q4=&seed=1",
}
"""What stands in data-state of a page without a query."""

READ = """name => {
  const root = document.getElementById(name);
  const figures = [...root.querySelectorAll("[data-quantity]"),
    ...document.querySelectorAll(`[data-of="${name}"][data-quantity]`)];
  return {
    state: root.dataset.state,
    computed: root.dataset.computed,
    python: document.documentElement.dataset.python,
    said: root.querySelector("[role=status]").textContent.replace(/\\s+/g, " ").trim(),
    figures: figures.map((one) => [one.getAttribute("data-quantity"), one.textContent, one.tagName]),
  };
}"""


@dataclass(frozen=True)
class Reading:
    """One look at a scene: ``figures`` by name, its state, who computed it, the sentence said."""

    state: str
    computed: str
    python: str
    said: str
    figures: dict[str, str]


def _agreed(found: list[tuple[str, str, str]]) -> dict[str, str]:
    """Put the figures of a page together: bare numbers in the right kind of element, that all agree."""
    figures: dict[str, str] = {}
    for name, text, tag in found:
        assert tag in ("B", "TD", "DD", "DATA"), f"{name} stands on a {tag}"
        assert FIGURE.fullmatch(text) or (text == "" and name in MAY_BE_EMPTY), f"{name} is {text!r}"
        assert figures.setdefault(name, text) == text, f"{name} is {figures[name]} here and {text} there"
    return figures


def until(read: Callable[[], Any], wanted: Callable[[Any], bool], page: Page) -> Any:
    """Read until it is what is wanted, or for as long as our patience lasts; give back what was read last."""
    end = time.monotonic() + PATIENCE
    seen = read()
    while not wanted(seen) and time.monotonic() < end:
        page.wait_for_timeout(20)
        seen = read()
    return seen


class SceneOnPage:
    """A scene of a page."""

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self.name = name

    @property
    def root(self) -> Locator:
        """Its element."""
        return self.page.locator(f"#{self.name}")

    def part(self, selector: str) -> Locator:
        """Something within it."""
        return self.root.locator(selector)

    def control(self, short: str) -> Locator:
        """The control whose id is ``short`` after the scene's name."""
        return self.page.locator(f"#{self.name}-{short}")

    def read(self) -> Reading:
        """Look at it now."""
        found = self.page.evaluate(READ, self.name)
        return Reading(**{**found, "figures": _agreed(found["figures"])})

    def shows(self, **wanted: Any) -> Reading:
        """Wait for figures, written with _ for the dot and the hyphen of their names, and for a ``state``."""
        state = wanted.pop("state", None)
        figures = {name.replace("__", "."): str(value) for name, value in wanted.items()}

        def fits(seen: Reading) -> bool:
            return state in (None, seen.state) and figures.items() <= seen.figures.items()

        seen: Reading = until(self.read, fits, self.page)
        got = {name: seen.figures.get(name) for name in figures}
        assert (got, seen.state) == (figures, state or seen.state)
        return seen

    def reset(self) -> None:
        """Bring it to its default, however it stands."""
        self.page.evaluate(  # the answer is awaited even where it changes nothing
            """name => new Promise((told) => {
            document.getElementById(name).addEventListener("lesson:change", () => told(), { once: true });
            document.getElementById(`${name}-reset`).click(); })""",
            self.name,
        )
        self.shows(state=DEFAULTS[self.name])
