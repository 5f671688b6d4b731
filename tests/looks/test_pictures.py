"""Pictures of the pages, held to those in baselines/ (see gallery.py for how closely).

After a change of looks that is meant, or for a new version of Chromium:

    make pictures                      # all, or
    make pictures VIEWS="quiz or print"

then look at every picture that git says has changed, and commit them with the change. What differs in a test
is left in test-results/pictures/, as NAME.expected.png, NAME.actual.png and NAME.diff.png.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BytesIO
from math import ceil
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, FloatRect, Page, TimeoutError

from tests.conftest import ROOT, Guard, Launch, NewContext, guarded, ready
from tests.looks import odiff
from tests.looks.gallery import Gallery
from tests.looks.views import (
    CROWD,
    LESSON,
    LONGEST,
    TOPS,
    VIEWS,
    Look,
    View,
    embed,
    parts,
    picture_name,
    picture_names,
    unfold,
)

BASELINES = Path(__file__).resolve().parent / "baselines"
RESULTS = ROOT / "test-results" / "pictures"
README = ROOT / "docs" / "admission.png"
README_WIDTH, MARGIN = 1000, 8
PIECE = 8000
PATIENCE = 30_000
"""Milliseconds for one picture; it takes well under one second even on a busy machine, or never comes."""
RENEW = os.environ.get("PICTURES") == "renew"
Host = Callable[[str], BrowserContext]
FAMILIES = {"Lockers Sans 400", "Lockers Sans 700", "Lockers Serif 900"}
LONG_RUN = LONGEST.replace("&", "&batching.")
EVERYTHING = f"quiz.q1=B&quiz.q2=A&quiz.q3=C&quiz.q4=D&admission.{CROWD}&batching.{LONG_RUN}"
NOT_LIVE = ".scene:not([data-computed=live])"

pytestmark = [
    # The suite makes errors of warnings; these are for people, at the end of the run.
    pytest.mark.filterwarnings("default::tests.looks.gallery.OtherBrowser"),
    pytest.mark.filterwarnings("default::tests.looks.gallery.Renewed"),
]


@pytest.fixture(scope="module")
def gallery(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    """The gallery for the browser that runs."""
    if RENEW and os.environ.get("CI"):
        pytest.fail("pictures are renewed by people who look at them, not where CI is set")
    program = odiff.install(tmp_path_factory.mktemp("odiff"))
    return Gallery(BASELINES, RESULTS, program, int(browser.version.split(".")[0]), renew=RENEW)


@pytest.fixture(scope="module")
def _visitor(browser: Browser, server: str) -> Iterator[tuple[BrowserContext, Guard]]:
    """A reader who comes again, with what the browser has kept."""
    guard = Guard(server)
    context = guarded(browser, guard)
    yield context, guard
    context.close()


@pytest.fixture
def visitor(_visitor: tuple[BrowserContext, Guard]) -> Iterator[BrowserContext]:
    """That reader, for one test."""
    context, guard = _visitor
    guard.seen.clear()
    yield context
    for page in context.pages:
        page.close()
    guard.finish()


def opened(view: View, context: BrowserContext) -> Page:
    """Open a page as the view wants it, and wait until it is all there."""
    page = context.new_page()
    page.goto(view.address)
    if view.kind == "live":
        ready(page)
        page.wait_for_selector(NOT_LIVE, state="detached")
    if view.kind == "failed":
        page.wait_for_selector("html[data-python=failed]", state="attached")
    if view.act:
        view.act(page)
    return page


def dressed(kind: str, make: Callable[..., BrowserContext]) -> BrowserContext:
    """Make the browser for a kind of view."""
    context = make(java_script_enabled=kind != "plain")
    if kind == "failed":
        context.route(re.compile(r"\.wasm"), lambda route: route.abort())
    return context


@pytest.fixture
def host(visitor: BrowserContext, new_context: NewContext, guard: Guard) -> Iterator[Host]:
    """Give the browser for each kind of view."""
    yield lambda kind: visitor if kind == "live" else dressed(kind, new_context)
    # What the browser says to a missing file is looked at where failures are tested.
    guard.seen[:] = [one for one in guard.seen if "Failed to load resource" not in one]


def look(page: Page, look: Look) -> None:
    """See the page at a width, in a scheme, on a screen or on paper; wait until it has its fonts."""
    page.set_viewport_size({"width": look.width, "height": 800})
    page.emulate_media(color_scheme=look.scheme, media=look.media)  # type: ignore[arg-type]
    page.evaluate("() => scrollTo(0, 0)")
    page.evaluate("() => document.fonts.ready.then(() => true)")
    faces = page.evaluate(
        """() => [...document.fonts].filter((face) => face.status === "loaded")
        .map((face) => `${face.family.replaceAll('"', "")} ${face.weight}`)"""
    )
    assert set(faces) <= FAMILIES, faces
    assert "Lockers Sans 400" in faces


def pictured(page: Page, height: int) -> Image.Image:
    """Picture the page from its top down to a height.

    No piece is so high that a browser could not draw it at once.
    """
    width = page.evaluate("() => innerWidth")
    whole = Image.new("RGB", (width, height))
    for top in range(0, height, PIECE):
        with Image.open(BytesIO(piece(page, top, width, min(PIECE, height - top)))) as picture:
            whole.paste(picture, (0, top))
    return whole


class NoPictureError(Exception):
    """The browser gives no picture of a page, and would give none however long one waited."""


def piece(page: Page, top: int, width: int, height: int) -> bytes:
    """Take one piece. Raises NoPictureError where none comes, as happens with Chromium once in a thousand."""
    clip: FloatRect = {"x": 0, "y": top, "width": width, "height": height}
    try:
        return page.screenshot(
            full_page=True, clip=clip, timeout=PATIENCE, animations="allow", caret="initial"
        )
    except TimeoutError as error:
        raise NoPictureError(f"{page.url}: none of {height} px from {top} px on") from error


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_view(view: View, gallery: Gallery, host: Host, launch: Launch, guard: Guard) -> None:
    try:
        check(view, gallery, host(view.kind))
    except NoPictureError:
        with another(view.kind, launch, guard) as context:
            check(view, gallery, context)


def test_a_view_that_a_browser_gives_no_picture_of_is_taken_by_another(
    gallery: Gallery, host: Host, launch: Launch, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Browser | None] = []
    taken = piece

    def first_none(page: Page, top: int, width: int, height: int) -> bytes:
        asked.append(page.context.browser)
        if len(asked) == 1:
            raise NoPictureError
        return taken(page, top, width, height)

    monkeypatch.setattr(f"{__name__}.piece", first_none)
    view = next(view for view in VIEWS if view.name == "growth-full")
    test_view(view, gallery, host, launch, guard)
    assert len(asked) == 1 + len(view.looks)
    assert len(set(asked)) == 2


@contextmanager
def another(kind: str, launch: Launch, guard: Guard) -> Iterator[BrowserContext]:
    """Start a browser for one view, of which the one for all gave no picture."""
    with ExitStack() as stack:
        browser = launch()
        stack.callback(browser.close)
        yield dressed(kind, partial(guarded, browser, guard))


def check(view: View, gallery: Gallery, context: BrowserContext) -> None:
    """Picture a view in all its looks, and hold it to the pictures that are kept."""
    page = opened(view, context)
    wrong = []
    for one in view.looks:
        look(page, one)
        wanted = list(parts(page, view))
        whole = pictured(page, max(part.bottom for part in wanted))
        for part in wanted:
            try:
                piece = whole.crop((0, part.top, whole.width, part.bottom))
                gallery.check(picture_name(view, one, part.name), piece)
            except AssertionError as error:
                wrong.append(str(error))
    assert not wrong, "\n".join(wrong)
    if view.kind == "live":
        assert page.locator(".scene").count() > 0
        assert page.locator(NOT_LIVE).count() == 0


def test_the_picture_in_the_readme_is_of_the_scene(gallery: Gallery, visitor: BrowserContext) -> None:
    page = opened(View("readme", embed("admission")), visitor)
    look(page, Look(README_WIDTH))
    bottom = page.evaluate("() => document.getElementById('admission').getBoundingClientRect().bottom")
    actual = pictured(page, ceil(bottom) + MARGIN)
    if gallery.renew:
        README.parent.mkdir(exist_ok=True)
        actual.quantize(255, dither=Image.Dither.NONE).save(README, optimize=True)
    with Image.open(README) as kept:
        gallery.compare("readme", kept.convert("RGB"), actual)
    assert README.stat().st_size < 150_000


def test_no_picture_is_left_of_a_view_that_is_gone(gallery: Gallery, page: Page) -> None:
    page.goto(LESSON)
    chapters = tuple(name for name, _ in page.evaluate(TOPS))
    names = {name for view in VIEWS for name in picture_names(view, chapters)}
    assert gallery.strangers(names) == set(), "delete these"
    assert chapters[0] == "top"
    assert len(chapters) > 5


def test_names_of_views_are_told_apart() -> None:
    names = [name for view in VIEWS for name in picture_names(view, ("top", "end"))]
    assert len(set(names)) == len(names)


PROBES = """() => {
  const kinds = new Set();
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].filter((node) => node.nodeType === 3);
    const text = own.map((node) => node.data.trim()).join("");
    const { fontFamily, fontWeight } = getComputedStyle(one);
    const kind = [text, fontFamily, fontWeight].join();
    if (!text || kinds.has(kind)) continue;
    kinds.add(kind);
    one.dataset.probe = "";
  }
}"""
"""Mark an element for each text in each font; the browser is asked what it drew that with."""


@pytest.mark.parametrize("address", [f"{LESSON}&{EVERYTHING}", embed("admission", "luggage=0,x&order=last")])
def test_every_letter_is_drawn_from_our_own_fonts(visitor: BrowserContext, address: str) -> None:
    page = visitor.new_page()
    page.goto(address)
    ready(page)
    unfold(page)
    page.evaluate("() => document.fonts.ready.then(() => true)")
    page.evaluate(PROBES)
    client = page.context.new_cdp_session(page)
    client.send("DOM.enable")
    client.send("CSS.enable")
    root = client.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    probes = client.send("DOM.querySelectorAll", {"nodeId": root, "selector": "[data-probe]"})["nodeIds"]
    drawn: set[str] = set()
    for probe in probes:
        for font in client.send("CSS.getPlatformFontsForNode", {"nodeId": probe})["fonts"]:
            drawn.add(font["postScriptName"])
            if not font["isCustomFont"]:
                html = client.send("DOM.getOuterHTML", {"nodeId": probe})["outerHTML"]
                pytest.fail(f"{font['familyName']} draws {html[:160]}")
    assert drawn == {"LockersSans-Regular", "LockersSans-Bold", "LockersSerif-Black"}
    assert len(probes) > 50
