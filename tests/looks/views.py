"""What is pictured: which page in which state, as a reader sees it on paper, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import floor

from playwright.sync_api import Page

from scenes import engine_map, stage
from sim import station

DESK, PHONE, PAPER = 1280, 390, 794
"""Widths in CSS pixels; A4 is 794 wide."""
SCHEMES = ("light", "dark")


@dataclass(frozen=True)
class Look:
    """One way to look at a page."""

    width: int
    scheme: str = "light"
    media: str = "screen"

    def __str__(self) -> str:
        return "paper" if self.media == "print" else f"{self.width}-{self.scheme}"


AT_DESK = tuple(Look(DESK, scheme) for scheme in SCHEMES)
ON_PHONE = tuple(Look(PHONE, scheme) for scheme in SCHEMES)
EVERY = AT_DESK + ON_PHONE
LIGHT = tuple(Look(width) for width in (DESK, PHONE))
ON_PAPER = (Look(PAPER, media="print"),)


@dataclass(frozen=True)
class View:
    """A page as it is pictured.

    ``address`` within the site; ``looks`` at it; ``act`` is done first; ``parts``: of a long page the
    chapters are pictured one by one, those of these names, or all for an empty tuple; None: all in one.
    ``kind`` is what the browser does: live, python cannot start (failed), or no scripts (plain).
    """

    name: str
    address: str
    looks: tuple[Look, ...] = EVERY
    act: Callable[[Page], None] | None = None
    parts: tuple[str, ...] | None = None
    kind: str = "live"


def unfold(page: Page) -> None:
    """Open everything that is folded."""
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def embed(name: str, query: str = "") -> str:
    """Give the address of a scene of its own, still, in a state."""
    return f"embed/{name}.html?freeze=1{query and '&' + query}"


def listed(*numbers: int) -> str:
    """Write numbers as addresses do."""
    return ",".join(map(str, numbers))


LESSON = "index.html?freeze=1"
FULL_TABLE = "a=7,11,1,14,4,6,8,15,16&b=2,3,9&c=5,10,12,13&page=9"
LONGEST = f"needs={listed(*[station.LIMIT] * 12)}&windows=1"
CROWD = f"luggage={listed(*station.EVENINGS['light'] * 6)}"
OVER = f"luggage={listed(*station.EVENINGS['over'])}"

VIEWS = (
    View("lesson", LESSON, AT_DESK, parts=()),
    View("lesson", LESSON, ON_PHONE, parts=()),
    View("lesson-print", LESSON, ON_PAPER, parts=()),
    View("lesson-plain", LESSON, LIGHT, parts=("top", "reserve", "questions"), kind="plain"),
    View("lesson-failed", LESSON, parts=("top",), kind="failed"),
    *(View(f"embed-{name}", embed(name)) for name in stage.SCENES),
    View("embed-failed", embed("growth"), LIGHT, kind="failed"),
    View("embed-plain", embed("batching"), LIGHT, kind="plain"),
    View("admission-over", embed("admission", OVER)),
    View("admission-crowd", embed("admission", CROWD)),
    View("admission-notices", embed("admission", "luggage=0,99,x,5&order=last"), LIGHT),
    View("admission-unfolded", embed("admission", OVER), LIGHT, act=unfold),
    View("admission-print", embed("admission"), ON_PAPER),
    View("batching-round-4", embed("batching", "round=4")),
    View("batching-longest", embed("batching", LONGEST), LIGHT),
    View("batching-unfolded", embed("batching"), LIGHT, act=unfold),
    View("block-table-full", embed("block-table", FULL_TABLE)),
    View("engine-map-start", embed("engine-map", "round=0"), LIGHT),
    View("engine-map-last", embed("engine-map", f"round={engine_map.LAST}")),
    View("engine-map-unfolded", embed("engine-map"), LIGHT, act=unfold),
    View("growth-full", embed("growth", "step=4"), LIGHT),
    View("quiz-answered", embed("quiz", "q1=B&q2=A&q3=B&q4=D")),
    View("quiz-unfolded", embed("quiz"), LIGHT, act=unfold),
)

TOPS = """() => [...document.querySelectorAll("#top, main h2[id]")].map((one) =>
  [one.id, one.getBoundingClientRect().top + scrollY])"""
ABOVE = 16
"""Pixels of the space above a heading that its part begins with."""


@dataclass(frozen=True)
class Part:
    """A part of a page, between two heights, or all of it."""

    name: str
    top: int
    bottom: int


def parts(page: Page, view: View) -> Iterator[Part]:
    """Divide the page at its chapters, leaving nothing out; give the parts that the view wants."""
    height = page.evaluate("() => document.documentElement.scrollHeight")
    if view.parts is None:
        yield Part("", 0, height)
        return
    (first, _), *others = page.evaluate(TOPS)
    starts = [(first, 0), *((name, floor(top) - ABOVE) for name, top in others)]
    ends = [*(top for _, top in starts[1:]), height]
    for (name, top), bottom in zip(starts, ends, strict=True):
        if not view.parts or name in view.parts:
            yield Part(name, top, bottom)


def picture_names(view: View, chapters: tuple[str, ...]) -> Iterator[str]:
    """Give the names of all pictures of a view, for a lesson of these chapters."""
    for look in view.looks:
        for part in ("",) if view.parts is None else view.parts or chapters:
            yield picture_name(view, look, part)


def picture_name(view: View, look: Look, part: str) -> str:
    """Name a picture."""
    return "-".join(filter(None, (view.name, part, str(look))))
