"""Python in a real browser: from the image, plainly, after a crash, without a worker, and not at all."""

import http.server
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

from tests.conftest import Guard

Ready = Callable[[Page], None]
LIVE = "[data-scene=admission][data-computed=live]"
KILLABLE = """
    window.workers = [];
    window.Worker = class extends Worker {
        constructor(...given) {
            super(...given);
            window.workers.push(this);
        }
    };
"""
KEPT = (
    "(await Promise.all((await caches.keys()).map(async (n) => (await caches.open(n)).keys())))"
    ".flat().length === 2"
)
"""Whether module and image are kept, which is the last that a page does by itself."""
OTHER = "[data-scene=admission] [data-action=order][value=skip]"


def files(site: Path, name: str) -> str:
    """The one asset whose plain name is ``name``, with a star for the hash."""
    (found,) = (site / "assets").glob(name)
    return found.name


def state(page: Page, scene: str = "admission") -> str:
    return page.locator(f"[data-scene={scene}]").get_attribute("data-state") or ""


def choose_skip(page: Page) -> None:
    page.locator(OTHER).check()


def test_the_lesson_starts_from_the_image_and_every_scene_becomes_live(
    page: Page, ready: Ready, guard: Guard, site: Path
) -> None:
    page.goto("index.html")
    ready(page)
    assert (
        page.locator("[data-scene]").count() == page.locator("[data-scene][data-computed=live]").count() > 0
    )
    early = [url.rsplit("/", 1)[1] for url in guard.requests]
    assert files(site, "python.*.image.gz") in early
    assert not [name for name in early if name.endswith(".whl")]


def test_each_embed_starts_when_it_is_seen(page: Page, ready: Ready) -> None:
    page.goto("embed/admission.html?luggage=1,2,3")
    ready(page)
    assert page.locator(LIVE).count() == 1
    assert state(page).startswith("luggage=1,2,3&")


def test_an_answer_comes_before_python_is_there(page: Page) -> None:
    page.route(re.compile(r"pyodide\.asm.*wasm"), lambda route: None)  # it never arrives
    page.goto("index.html")
    page.wait_for_selector("html[data-python=loading]", state="attached")
    choose_skip(page)
    page.wait_for_selector("[data-scene=admission][data-state*='order=skip'][data-computed=build]")
    page.wait_for_url("**/index.html?admission.order=skip#admission")


@pytest.mark.parametrize("how", ["missing", "damaged", "another"])
def test_without_a_good_image_python_starts_plainly(page: Page, ready: Ready, guard: Guard, how: str) -> None:
    def spoil(route: Route) -> None:
        if how == "missing":
            route.abort()
            return
        body = bytearray(route.fetch().body())
        if how == "another":
            body = bytearray(b"\x00" * 64)
        else:
            body[len(body) // 2] ^= 255
        route.fulfill(body=bytes(body), content_type="application/gzip")

    page.context.route(re.compile(r"\.image\.gz"), spoil)
    page.goto("embed/admission.html")
    ready(page)
    assert page.locator(LIVE).count() == 1
    assert [url for url in guard.requests if "locker_lesson" in url]


def test_a_killed_worker_is_started_again_and_nothing_is_lost(page: Page, ready: Ready) -> None:
    page.add_init_script(KILLABLE)
    page.goto("index.html")
    ready(page)
    page.evaluate("() => workers.at(-1).terminate()")
    choose_skip(page)
    page.wait_for_selector("[data-scene=admission][data-state*='order=skip'][data-computed=live]")
    assert page.evaluate("() => workers.length") > 1
    assert page.evaluate("() => document.documentElement.dataset.python") == "ready"


def test_a_crashed_worker_is_started_again(page: Page, ready: Ready) -> None:
    page.add_init_script(KILLABLE)
    page.goto("embed/admission.html")
    ready(page)
    page.evaluate("() => workers.at(-1).dispatchEvent(new Event('error', { cancelable: true }))")
    choose_skip(page)
    page.wait_for_selector("[data-scene=admission][data-state*='order=skip'][data-computed=live]")
    assert page.evaluate("() => workers.length") == 2


@contextmanager
def somebody_elses_page(html: str) -> Iterator[str]:
    """Serve one page from another host than ours, which puts no policy on it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Write no log."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as host:
        thread = threading.Thread(target=host.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{host.server_port}/"
        host.shutdown()
        thread.join()


def test_where_no_worker_can_start_python_runs_on_the_page(page: Page, ready: Ready) -> None:
    page.add_init_script(
        "window.Worker = class { constructor() { throw new DOMException('', 'SecurityError'); } };"
    )
    page.goto("embed/admission.html?order=skip")
    ready(page)
    assert page.locator(LIVE).count() == 1
    assert "order=skip" in state(page)


def test_a_sandboxed_frame_computes_too(page: Page, server: str, guard: Guard) -> None:
    source = f"{server}embed/admission.html"
    frame = f'<iframe sandbox="allow-scripts" width="900" height="900" src="{source}"></iframe>'
    with somebody_elses_page(f'<!doctype html><link rel="icon" href="data:,">{frame}') as other:
        guard.allow(f"request to another host: {other}")
        page.goto(other)
        inside = page.frame_locator("iframe")
        inside.locator(LIVE).wait_for()
        inside.locator(OTHER).check()
        inside.locator("[data-scene=admission][data-state*='order=skip'][data-computed=live]").wait_for()


def test_failure_is_said_calmly_and_can_be_tried_again(page: Page, ready: Ready) -> None:
    wasm = re.compile(r"pyodide\.asm.*wasm")
    page.context.route(wasm, lambda route: route.abort())
    page.goto("index.html")
    page.wait_for_selector("html[data-python=failed]", state="attached")
    message = page.locator("[data-boot-message]").first
    assert message.is_visible()
    assert page.locator("[data-scene][data-computed=build]").count() > 0
    page.context.unroute(wasm)
    message.locator("[data-action=retry]").click()
    ready(page)
    assert not message.is_visible()


def test_the_library_that_is_not_in_the_image_can_be_had(page: Page, site: Path) -> None:
    page.goto("index.html")
    script = """async ([python, ...parts]) => {
        const { start } = await import(python);
        const gunzip = () => new DecompressionStream("gzip");
        const decoded = parts.map(async (url) => (await fetch(url)).body.pipeThrough(gunzip()));
        const [wasm, image] = await Promise.all(decoded);
        const module = await WebAssembly.compile(await new Response(wasm).arrayBuffer());
        const lesson = await start(module, await new Response(image).arrayBuffer());
        await lesson.addLibrary();
        return [lesson.plain, lesson.run("import statistics; statistics.median([3, 1, 2])")];
    }"""
    names = ("python.*.mjs", "pyodide.asm.*.wasm.gz", "python.*.image.gz")
    here = page.url.rsplit("/", 1)[0]
    addresses = [f"{here}/assets/{files(site, name)}" for name in names]
    assert page.evaluate(script, addresses) == [False, 2]


def test_what_was_decoded_is_kept_for_the_next_visit_and_old_versions_go(page: Page, ready: Ready) -> None:
    page.goto("index.html")
    page.evaluate(
        "async () => { await caches.open('locker-lesson old'); await caches.open('of somebody else'); }"
    )
    ready(page)
    page.wait_for_function(
        """async () => {
            const names = await caches.keys();
            const ours = names.filter((name) => name.startsWith('locker-lesson '));
            if (ours.length !== 1 || ours[0].endsWith(' old')) return false;
            return true;
        }"""
    )
    page.wait_for_function(f"async () => {KEPT}")
    assert "of somebody else" in page.evaluate("() => caches.keys()")
    page.reload()
    ready(page)


def test_an_action_causes_no_request(page: Page, ready: Ready, guard: Guard) -> None:
    page.goto("index.html")
    ready(page)
    page.wait_for_function(f"async () => {KEPT}")
    while sum(".wasm" in url for url in guard.requests) < 2:  # a worker's are told late
        page.wait_for_timeout(50)
    before = len(guard.requests)
    choose_skip(page)
    page.wait_for_selector("[data-scene=admission][data-state*='order=skip'][data-computed=live]")
    assert guard.requests[before:] == []
