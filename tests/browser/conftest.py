"""One live lesson for all tests that only use its scenes: on a desk with a mouse and keys, and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.hands import Finger, Hand, Keyboard, Mouse
from tests.browser.reading import SceneOnPage, until
from tests.conftest import Guard, guarded, ready

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


def _live(browser: Browser, server: str, **kind: Any) -> Iterator[tuple[Page, Guard]]:
    """Load the lesson and wait for the last that is fetched in idle time: the module again, to be kept."""
    guard = Guard(server)
    context = guarded(browser, guard, **kind)
    page = context.new_page()
    page.goto("index.html")
    ready(page)
    until(lambda: sum(".wasm" in url for url in guard.requests), lambda count: count == 2, page)
    yield page, guard
    context.close()


@pytest.fixture(scope="session")
def _desk(browser: Browser, server: str) -> Iterator[tuple[Page, Guard]]:
    yield from _live(browser, server)


@pytest.fixture(scope="session")
def _phone(browser: Browser, server: str) -> Iterator[tuple[Page, Guard]]:
    yield from _live(browser, server, **PHONE)


def _lent(lesson: tuple[Page, Guard]) -> Iterator[Page]:
    """Lend a live lesson to one test, which may neither make it ask for anything nor say anything."""
    page, guard = lesson
    before = len(guard.requests)
    guard.seen.clear()
    yield page
    assert guard.requests[before:] == [], "an action caused a request"
    guard.finish()


@pytest.fixture
def desk(_desk: tuple[Page, Guard]) -> Iterator[Page]:
    """The live lesson on a wide screen. A test resets the scenes that it uses."""
    yield from _lent(_desk)


@pytest.fixture
def phone(_phone: tuple[Page, Guard]) -> Iterator[Page]:
    """The live lesson on a phone, for a finger."""
    yield from _lent(_phone)


Open = Callable[[str], Page]


@pytest.fixture(scope="session")
def _visitor(browser: Browser, server: str) -> Iterator[tuple[BrowserContext, Guard]]:
    guard = Guard(server)
    context = guarded(browser, guard, permissions=["clipboard-read", "clipboard-write"])
    yield context, guard
    context.close()


@pytest.fixture
def visit(_visitor: tuple[BrowserContext, Guard]) -> Iterator[Open]:
    """Open addresses as a reader who was here before, and wait until Python is there."""
    context, guard = _visitor
    guard.seen.clear()
    pages: list[Page] = []

    def opened(address: str) -> Page:
        page = context.new_page()
        pages.append(page)
        page.goto(address)
        ready(page)
        return page

    yield opened
    for page in pages:
        page.close()
    guard.finish()


HANDS: dict[str, Callable[[Page], Hand]] = {"mouse": Mouse, "touch": Finger, "keyboard": Keyboard}


@pytest.fixture(params=HANDS)
def hand(request: pytest.FixtureRequest) -> Hand:
    """Each of the three ways to act, on the live lesson."""
    page = request.getfixturevalue("phone" if request.param == "touch" else "desk")
    return HANDS[request.param](page)


@pytest.fixture
def scene(hand: Hand) -> Callable[[str], SceneOnPage]:
    """Give the scene of a name, in its default state, on the page of this test's hand."""

    def fresh(name: str) -> SceneOnPage:
        one = SceneOnPage(hand.page, name)
        one.reset()
        return one

    return fresh
