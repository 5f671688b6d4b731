"""Fixtures of the whole suite: the site built once, a server of it, one browser, and a guard on every page.

The browser is the one that ``make setup-test`` found (.cache/browser), or that ``CHROMIUM`` names. How it
renders is pinned, so that pictures of the same page are the same.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    sync_playwright,
)

import build
from stages import browser as browsers
from stages import serve
from stages.cache import digest

ROOT = Path(__file__).resolve().parent.parent
RENDERING = (
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-font-subpixel-positioning",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
)
SOURCES = ("build.py", "pyproject.toml", "package-lock.json", "requirements-browser.txt")
SOURCE_FOLDERS = ("stages", "sim", "scenes", "templates", "site")
PATIENCE = 60_000
"""Milliseconds until a wait is given up: for a machine that is busy, not a measure of anything."""


def build_once(root: Path) -> Path:
    """Build the site unless that in dist/ is of these very sources; processes at once wait for each other."""
    folder = root / ".cache"
    folder.mkdir(exist_ok=True)
    key = digest(*(root / name for name in (*SOURCES, *SOURCE_FOLDERS)))
    stamp = folder / "tested-site"
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "dist").is_dir() or not stamp.is_file() or stamp.read_text() != key:
            build.build(root / "dist")
            stamp.write_text(key)
    return root / "dist"


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    return build_once(ROOT)


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """The address, with a slash at its end, at which the site is served."""
    with serve.serving(site) as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser."""
    noted = ROOT / ".cache" / "browser"
    named = noted.read_text().strip() if noted.is_file() and not os.environ.get("CHROMIUM") else ""
    return named if named and Path(named).is_file() else browsers.find() or browsers.install()


@pytest.fixture(scope="session")
def playwright(chromium: str) -> Iterator[Playwright]:
    """Playwright itself, once the browser is found: it cannot be asked for its own while it runs."""
    with sync_playwright() as playwright:
        yield playwright


Launch = Callable[[], Browser]


@pytest.fixture(scope="session")
def launch(playwright: Playwright, chromium: str) -> Launch:
    """Start a Chromium; who asks for one of its own also closes it."""
    return lambda: playwright.chromium.launch(executable_path=chromium, args=[*RENDERING, *browsers.ALONE])


@pytest.fixture(scope="session")
def browser(launch: Launch) -> Iterator[Browser]:
    """One Chromium for all tests; each test has contexts of its own."""
    browser = launch()
    yield browser
    browser.close()


@dataclass
class Guard:
    """Notes what no page of ours may do: say something on the console, raise an error, ask another host.

    A test that provokes such a thing says so, ``guard.allow("text within it")``; then it must also occur.
    """

    server: str
    seen: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        """Watch every page and worker of a context."""
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.seen.append(f"error: {error.error}"))
        context.on("request", self._on_request)

    def allow(self, text: str) -> None:
        """Expect something that holds ``text``."""
        self.allowed.append(text)

    def _on_console(self, message: ConsoleMessage) -> None:
        self.seen.append(f"console {message.type}: {message.text}")

    def _on_request(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.server, "data:", "blob:", "about:")):
            self.seen.append(f"request to another host: {request.url}")

    def finish(self) -> None:
        """Fail for all that was seen and not allowed, and for all that was allowed and not seen."""
        wrong = [one for one in self.seen if not any(text in one for text in self.allowed)]
        unseen = [text for text in self.allowed if not any(text in one for one in self.seen)]
        if wrong or unseen:
            pytest.fail(
                "\n".join(
                    ["the page did what no page may:", *wrong, *(f"not seen: {text}" for text in unseen)]
                )
            )


@pytest.fixture
def guard(server: str) -> Iterator[Guard]:
    """The guard of this test's pages."""
    guard = Guard(server)
    yield guard
    guard.finish()


NewContext = Callable[..., BrowserContext]
USUAL: dict[str, Any] = {
    "locale": "zh-TW",
    "timezone_id": "Asia/Taipei",
    "device_scale_factor": 1,
    "viewport": {"width": 1280, "height": 800},
    "reduced_motion": "reduce",
}
"""What is pinned of every reader in the tests."""


def guarded(browser: Browser, guard: Guard, **options: Any) -> BrowserContext:
    """Make a context of ``browser`` for a usual reader but for Playwright's ``options``, and watch it."""
    context = browser.new_context(**{**USUAL, "base_url": guard.server, **options})
    context.set_default_timeout(PATIENCE)
    guard.watch(context)
    return context


@pytest.fixture
def new_context(browser: Browser, guard: Guard) -> Iterator[NewContext]:
    """Make guarded contexts as new_page() of a reader here would be; keyword arguments are Playwright's."""
    with ExitStack() as stack:

        def make(**options: Any) -> BrowserContext:
            context = guarded(browser, guard, **options)
            stack.callback(context.close)
            return context

        yield make


@pytest.fixture
def page(new_context: NewContext) -> Page:
    """A guarded page, still empty; addresses are relative to the server, as in page.goto("index.html")."""
    return new_context().new_page()


def ready(page: Page) -> None:
    """Wait until Python is there and every scene is computed by it."""
    page.wait_for_selector("html[data-python=ready]", state="attached")


@pytest.fixture(name="ready")
def _ready() -> Callable[[Page], None]:
    """The function that waits for Python on a page."""
    return ready
