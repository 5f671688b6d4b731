"""What may go wrong with a reader's browser, network or host, and what is left then: all that can be."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from scenes import stage
from stages import serve
from tests.browser.reading import DEFAULTS, SCENES, SceneOnPage, until
from tests.conftest import Guard, NewContext

Ready = Callable[[Page], None]
WASM = re.compile(r"\.wasm")
IMAGE = re.compile(r"\.image")
FAILED = "html[data-python=failed]"


# without JavaScript

DEFAULT_FIGURES: dict[str, dict[str, object]] = {
    "growth": {"items": 8, "added": 3, "next_locker": 9, "reserved__empty": 4},
    "one-traveller": {"reserved__used": 8, "reserved__empty": 4, "paged__used": 8, "paged__free": 4},
    "admission": {
        "reserved__admitted": 5,
        "reserved__empty": 27,
        "paged__admitted": 6,
        "paged__free": 21,
        "total": 39,
    },
    "block-table": {"a__pages": 5, "free": 4},
    "batching": {
        "static__rounds": 8,
        "continuous__rounds": 6,
        "static__mean_finish": "5.67",
        "static__mean_return": "7.00",
    },
    "engine-map": {},
    "quiz": {"score": 0},
}


def test_without_javascript_the_lesson_is_complete_and_right(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto("index.html")
    for name, figures in DEFAULT_FIGURES.items():
        scene = SceneOnPage(page, name)
        seen = scene.shows(state=DEFAULTS[name], **figures)
        assert seen.computed == "build"
        assert seen.said
    engine = SceneOnPage(page, "engine-map").read().figures
    assert int(engine["blocks.used"]) + int(engine["blocks.free"]) == 60
    expect(page.locator(".noscript")).to_be_visible()
    expect(page.locator("[data-boot-message]")).to_be_hidden()
    assert page.locator("nav a").count() >= 7
    for link in page.locator("a[href^='#']").all():  # no dead link within the page
        assert page.locator(str(link.get_attribute("href"))).count() == 1


def test_without_javascript_the_answers_are_folded_in(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto("index.html")
    for number in range(1, 5):
        folded = page.locator(f"#quiz-q{number}-all")
        expect(folded.locator("li").first).to_be_hidden()
        folded.locator("summary").click()
        expect(folded.locator("li")).to_have_count(4)
        expect(folded.locator("li").first).to_be_visible()
    for name in ("admission-table", "batching-log", "engine-map-log"):
        table = page.locator(f"#{name}")
        table.locator("summary").click()
        expect(table.locator("tbody tr").first).to_be_visible()


@pytest.mark.parametrize("name", SCENES)
def test_without_javascript_every_embed_is_complete(new_context: NewContext, name: str) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"embed/{name}.html")
    assert SceneOnPage(page, name).shows(state=DEFAULTS[name], **DEFAULT_FIGURES[name]).computed == "build"


# Python cannot start


def is_readable_and_calm(page: Page) -> None:
    """The page says once that Python is not there, and keeps all that it had."""
    message = page.locator("[data-boot-message]")
    expect(message).to_be_visible()
    assert len(message.inner_text()) > 20
    expect(page.locator("[data-boot-progress]")).to_be_hidden()
    for name in SCENES:
        seen = SceneOnPage(page, name).shows(**DEFAULT_FIGURES[name])
        assert (seen.computed, seen.python) == ("build", "failed")


def test_blocked_wasm_is_told_calmly_and_retried(new_context: NewContext, ready: Ready) -> None:
    context = new_context()
    context.route(WASM, lambda route: route.abort())
    page = context.new_page()
    page.goto("index.html")
    page.wait_for_selector(FAILED)
    is_readable_and_calm(page)
    admission = SceneOnPage(page, "admission")
    admission.control("preset-light").check()  # prepared answers still come
    admission.shows(total=11, paged__free=49)
    page.locator("[data-action=retry]").click()  # still blocked
    page.wait_for_selector("html[data-python=loading]")
    page.wait_for_selector(FAILED)
    expect(page.locator("[data-boot-message]")).to_be_visible()
    context.unroute(WASM)
    page.locator("[data-action=retry]").click()
    ready(page)
    expect(page.locator("[data-boot-message]")).to_be_hidden()
    assert admission.shows(total=11).computed == "live"
    admission.control("items-0").fill("7")
    admission.control("items-0").press("Enter")
    admission.shows(total=16)


def test_nothing_claims_to_play_where_python_cannot_start(new_context: NewContext, ready: Ready) -> None:
    context = new_context()
    context.route(WASM, lambda route: route.abort())
    page = context.new_page()
    page.goto("embed/batching.html")
    play = page.locator("#batching-play")
    play.click()
    page.wait_for_selector(FAILED)
    expect(play).to_have_attribute("aria-pressed", "false")
    shown = SceneOnPage(page, "batching").read().state  # the first step may have been prepared, and was taken
    assert shown in (DEFAULTS["batching"], DEFAULTS["batching"].replace("round=8", "round=0"))
    play.click()
    expect(play).to_have_attribute("aria-pressed", "false")
    context.unroute(WASM)
    page.locator("[data-action=retry]").click()
    ready(page)
    page.wait_for_timeout(300)
    SceneOnPage(page, "batching").shows(state=shown)
    play.click()
    seen = until(SceneOnPage(page, "batching").read, lambda now: now.state.endswith("round=1"), page)
    assert seen.state.endswith("round=1")


def test_a_policy_that_forbids_wasm_is_told_calmly(new_context: NewContext, guard: Guard) -> None:
    context = new_context()

    def stricter(route: Route) -> None:
        answer = route.fetch()
        policy = str(answer.headers["content-security-policy"]).replace("'wasm-unsafe-eval'", "")
        route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": policy})

    context.route(re.compile(r"/(index\.html|assets/.*worker.*\.mjs)$"), _with_policy(stricter))
    page = context.new_page()
    page.goto("index.html")
    page.wait_for_selector(FAILED)
    is_readable_and_calm(page)
    guard.seen = [
        one for one in guard.seen if "Content Security Policy" not in one
    ]  # some browsers say so, some not


def _with_policy(pages: Callable[[Route], None]) -> Callable[[Route], None]:
    """A worker has a policy of its own, which the host has to send with its script."""

    def handle(route: Route) -> None:
        if route.request.url.endswith(".html"):
            pages(route)
            return
        answer = route.fetch()
        policy = "default-src 'none'; script-src 'self'; connect-src 'self'"
        route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": policy})

    return handle


def test_without_the_image_python_starts_plainly(new_context: NewContext, guard: Guard, ready: Ready) -> None:
    context = new_context()
    context.route(IMAGE, lambda route: route.abort())
    page = context.new_page()
    page.goto("index.html")
    ready(page)
    assert any(url.endswith(".whl") for url in guard.requests)
    assert SceneOnPage(page, "quiz").read().computed == "live"


def _short(body: bytes) -> bytes:
    return body[: len(body) // 2]


def _flipped(body: bytes) -> bytes:
    return body[:400] + bytes(byte ^ 0xFF for byte in body[400:2400]) + body[2400:]


@pytest.mark.parametrize("damage", [_short, _flipped])
def test_a_damaged_image_is_given_up_for_the_plain_start(
    new_context: NewContext, guard: Guard, ready: Ready, damage: Callable[[bytes], bytes]
) -> None:
    context = new_context()

    def handle(route: Route) -> None:
        answer = route.fetch()
        headers = {k: v for k, v in answer.headers.items() if k not in ("content-encoding", "content-length")}
        route.fulfill(status=200, body=damage(answer.body()), headers=headers)

    context.route(IMAGE, handle)
    page = context.new_page()
    page.goto("index.html")
    ready(page)
    assert any(url.endswith(".whl") for url in guard.requests)
    admission = SceneOnPage(page, "admission")
    admission.control("items-0").fill("12")
    admission.control("items-0").press("Enter")
    assert admission.shows(total=43).computed == "live"


def press(page: Page, *controls: str) -> None:
    """Press buttons so quickly that no answer comes between."""
    page.evaluate("ids => ids.forEach((id) => document.getElementById(id).click())", controls)


ENDS = {
    "error": "setTimeout(() => { throw new Error('broken') })",
    "hang": "setTimeout(() => { for (;;) {} })",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_worker_that_dies_is_started_again_and_nothing_is_lost(
    new_context: NewContext, guard: Guard, ready: Ready, end: str
) -> None:
    page = new_context().new_page()
    page.goto("index.html")
    ready(page)
    admission, growth = SceneOnPage(page, "admission"), SceneOnPage(page, "growth")
    admission.control("six").click()
    admission.shows(paged__admitted=8)
    page.workers[0].evaluate(ENDS[end])
    press(page, "admission-six", "growth-more", "growth-more", "admission-less-0")
    growth.shows(state="step=4")
    friday = "5,10,3,7,6"
    admission.shows(state=f"luggage=7,{friday},8,{friday},8,{friday}&order=fcfs")
    for state in (
        f"luggage=8,{friday},8,{friday},8,{friday}&order=fcfs",
        f"luggage=8,{friday},8,{friday}&order=fcfs",
    ):
        admission.control("back").click()
        assert admission.shows(state=state).computed == "live"
    guard.seen = [one for one in guard.seen if end != "error" or "broken" not in one]
    expect(page.locator("[data-boot-message]")).to_be_hidden()


# hosts


@pytest.fixture
def elsewhere(guard: Guard) -> Iterator[Callable[[str], str]]:
    """Put a page on another site, with this body; give its address."""
    text = ["<!DOCTYPE html><link rel=icon href=data:,>"]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = "".join(text).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Write no log."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()

        def put(body: str) -> str:
            text.append(body)
            address = f"http://localhost:{host.server_port}/"
            guard.allow(f"request to another host: {address}")
            return address

        yield put
        host.shutdown()


def frame_of(address: str, more: str = "") -> str:
    """Write the frame that a teacher would."""
    return f'<iframe title="x" width="900" height="900" src="{address}" {more}></iframe>'


def test_in_a_sandboxed_frame_python_runs_on_the_page(
    page: Page, guard: Guard, elsewhere: Callable[[str], str]
) -> None:
    address = guard.server + "embed/admission.html?luggage=12,12,12,12,12,12"
    page.goto(elsewhere(frame_of(address, 'sandbox="allow-scripts"')))
    frame = page.frame_locator("iframe")
    frame.locator("html[data-python=ready]").wait_for(state="attached")
    root = frame.locator("#admission[data-computed=live]")
    expect(root.locator("[data-quantity='paged.admitted']")).to_have_text("5")
    frame.locator("#admission-less-0").click()
    expect(root.locator("[data-quantity=total]")).to_have_text("71")
    frame.locator("#admission-back").click()
    expect(root.locator("[data-quantity=total]")).to_have_text("72")
    assert page.workers == []


def test_the_lesson_in_a_sandboxed_frame(page: Page, guard: Guard, elsewhere: Callable[[str], str]) -> None:
    page.goto(elsewhere(frame_of(guard.server + "index.html", 'sandbox="allow-scripts"')))
    frame = page.frame_locator("iframe")
    frame.locator("html[data-python=ready]").wait_for(state="attached")
    for name in SCENES:
        frame.locator(f"#{name}[data-computed=live]").wait_for(state="attached")


def test_in_a_frame_of_another_site(page: Page, guard: Guard, elsewhere: Callable[[str], str]) -> None:
    page.goto(elsewhere(frame_of(guard.server + "embed/growth.html")))
    frame = page.frame_locator("iframe")
    frame.locator("html[data-python=ready]").wait_for(state="attached")
    assert page.evaluate("document.activeElement.tagName") == "BODY"  # nothing takes the focus
    frame.locator("#growth-more").click()
    expect(frame.locator("#growth[data-computed=live] [data-quantity=items]")).to_have_text("10")


def test_an_embed_waits_until_it_is_seen(page: Page, guard: Guard, elsewhere: Callable[[str], str]) -> None:
    page.goto(elsewhere('<p style="height:4000px">x</p>' + frame_of(guard.server + "embed/growth.html")))
    frame = page.frame_locator("iframe")
    frame.locator("html[data-python=idle]").wait_for(state="attached")
    page.wait_for_timeout(500)
    frame.locator("html[data-python=idle]").wait_for(state="attached")
    assert not any(".wasm" in url for url in guard.requests)
    page.locator("iframe").scroll_into_view_if_needed()
    frame.locator("html[data-python=ready]").wait_for(state="attached")


def test_the_site_works_in_a_sub_folder(browser: Any, site: Path, tmp_path: Path) -> None:
    shutil.copytree(site, tmp_path / "a" / "b", copy_function=os.link)
    with serve.serving(tmp_path) as address:
        guard = Guard(address + "a/b/")
        context = browser.new_context(base_url=guard.server)
        guard.watch(context)
        page = context.new_page()
        for name in ("index.html?admission.luggage=1,2,3#admission", "embed/admission.html?luggage=1,2,3"):
            page.goto(name)
            page.wait_for_selector("html[data-python=ready]", state="attached")
            assert SceneOnPage(page, "admission").shows(total=6, paged__admitted=3).computed == "live"
        page.locator(".embed-foot a").evaluate("one => { one.target = '_self'; one.click(); }")
        page.wait_for_url(guard.server + "index.html#admission")
        context.close()
        guard.finish()


def test_the_policy_is_in_force(page: Page, guard: Guard, ready: Ready) -> None:
    page.goto("index.html")
    ready(page)
    guard.allow("Content Security Policy")
    done = page.evaluate(
        """async () => {
          const script = document.createElement("script");
          script.textContent = "globalThis.inline = 1";
          const button = document.createElement("button");
          button.setAttribute("onclick", "globalThis.handler = 1");
          const styled = document.createElement("p");
          styled.setAttribute("style", "position: fixed");
          document.body.append(script, button, styled);
          button.click();
          await new Promise((go) => setTimeout(() => {
            try { globalThis.evaluated = new Function("return 1")(); } catch { /* as it should be */ }
            go();
          }));
          const refused = await fetch("https://example.com/").then(() => false, () => true);
          const done = ["inline", "handler", "evaluated"].filter((name) => name in globalThis);
          const result = { done, position: getComputedStyle(styled).position, refused };
          script.remove(); button.remove(); styled.remove();
          return result;
        }"""
    )
    assert done == {"done": [], "position": "static", "refused": True}


def test_every_page_brings_its_policy(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 1 + len(stage.SCENES)
    for one in pages:
        text = one.read_text(encoding="utf-8").replace("&#39;", "'")
        assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';' in text
        assert "unsafe-inline" not in text
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son[a-z]+=|\sstyle=|<style", text)
        assert not re.search(
            r"""(?:src|href)=["'](?:https?:)?//(?!arxiv|blog\.vllm|www\.usenix|docs\.vllm|huggingface)""",
            text,
        )


# before Python is there


class Held:
    """Holds back Python until it is let go."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.routes: list[Route] = []
        self.released = False
        page.context.route(WASM, self.handle)

    def handle(self, route: Route) -> None:
        """Keep a request, or let it go on."""
        if self.released:
            route.continue_()
        else:
            self.routes.append(route)

    def release(self) -> None:
        """Let Python come."""
        until(lambda: len(self.routes), bool, self.page)
        self.released = True
        for route in self.routes:
            route.continue_()


def test_prepared_answers_come_before_python(page: Page, ready: Ready) -> None:
    held = Held(page)
    page.goto("index.html")
    page.wait_for_selector("html[data-python=loading]")
    admission, growth = SceneOnPage(page, "admission"), SceneOnPage(page, "growth")
    page.locator("label:has(#admission-preset-over)").click()
    assert admission.shows(total=65, paged__admitted=5, paged__free=4).computed == "build"
    for step in (3, 4):
        growth.control("more").click()
        assert growth.shows(state=f"step={step}").computed == "build"
    one = SceneOnPage(page, "one-traveller")
    one.control("guess-11").click()
    before = one.shows(state="items=1")
    assert before.computed == "build"
    held.release()
    ready(page)
    after = one.shows(state="items=1")
    assert (after.computed, after.said) == ("live", before.said)  # the sentence about the guess stays
    assert admission.shows(total=65).computed == "live"
    assert growth.shows(state="step=4").computed == "live"
    growth.control("back").click()
    growth.shows(state="step=3")


def test_an_address_that_was_prepared_is_shown_before_python(page: Page, ready: Ready) -> None:
    held = Held(page)
    page.goto("index.html?growth.step=4&admission.luggage=2,1,3,1,2,2&quiz.seed=77")
    assert SceneOnPage(page, "growth").shows(state="step=4").computed == "build"
    assert SceneOnPage(page, "admission").shows(total=11).computed == "build"
    held.release()
    ready(page)
    SceneOnPage(page, "quiz").shows(state="q1=&q2=&q3=&q4=&seed=77")


def test_what_was_not_prepared_is_answered_afterwards(page: Page, ready: Ready) -> None:
    held = Held(page)
    page.goto("index.html")
    page.wait_for_selector("html[data-python=loading]")
    admission = SceneOnPage(page, "admission")
    admission.control("items-0").fill("12")
    admission.control("items-0").press("Enter")
    for control in ("less-0", "six"):  # wait in line behind it
        admission.control(control).click()
    page.wait_for_timeout(200)
    assert admission.read().state == DEFAULTS["admission"]
    held.release()
    ready(page)
    admission.shows(state="luggage=11,5,10,3,7,6,11,5,10,3,7,6&order=fcfs", total=84)
    for total in (42, 43, 39):
        admission.control("back").click()
        admission.shows(total=total)


def test_becoming_live_changes_nothing_that_is_seen(page: Page, ready: Ready) -> None:
    held = Held(page)
    page.goto("index.html")
    page.wait_for_selector("html[data-python=loading]")
    seen = "[...document.querySelectorAll('[data-scene]')].map((one) => one.innerText.replace(/\\s+/g, ' '))"
    proof = "document.querySelectorAll('.proof').forEach((one) => { one.hidden = true; })"
    order = "[...document.querySelectorAll('#quiz input')].map((one) => one.id)"
    page.evaluate(proof)
    page.evaluate("document.documentElement.classList.add('is-whole')")  # else it has no innerText
    before, options = page.evaluate(seen), page.evaluate(order)
    held.release()
    ready(page)
    page.evaluate(proof)
    assert all(before)
    assert page.evaluate(seen) == before
    assert page.evaluate(order) == options


def test_quick_actions_keep_their_order(desk: Page) -> None:
    admission, growth = SceneOnPage(desk, "admission"), SceneOnPage(desk, "growth")
    admission.reset()
    growth.reset()
    press(desk, "admission-six", "growth-less", "admission-preset-light", "admission-six", "growth-less")
    press(desk, "admission-more-0", "growth-more", "admission-more-0", "admission-fewer", "admission-less-5")
    admission.shows(state="luggage=4,1,3,1,2,1&order=fcfs", total=12)
    growth.shows(state="step=1")


def test_coming_back_from_another_page_shows_the_same_state(page: Page, ready: Ready) -> None:
    page.goto("index.html")
    ready(page)
    table = SceneOnPage(page, "block-table")
    table.control("append").click()
    before = table.shows(a__pages=6)
    page.goto("embed/growth.html")
    page.go_back()
    ready(page)
    assert table.shows(state=before.state).figures == before.figures
    table.control("back").click()
    table.shows(state=DEFAULTS["block-table"])


def test_answers_are_not_piled_up(desk: Page) -> None:
    growth = SceneOnPage(desk, "growth")
    growth.reset()
    assert desk.evaluate("lessonEarly.events") is None  # noted only until the page's script listens


def test_nothing_is_said_or_asked_elsewhere_in_a_whole_visit(page: Page, guard: Guard, ready: Ready) -> None:
    page.goto("index.html")
    ready(page)
    page.wait_for_timeout(1000)
    assert guard.requests
    assert all(url.startswith(guard.server) for url in guard.requests)
    assert page.context.cookies() == []
