"""The browser's history while things are under way: what the address says and what is shown never part."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from scenes import stage
from tests.browser.conftest import Open
from tests.browser.reading import SceneOnPage, until
from tests.conftest import NewContext

NEXT = "document.getElementById('engine-map-next').click()"
WASM = re.compile(r"\.wasm")
PLAY = "document.getElementById('engine-map-play').click()"


def asked(page: Page, name: str) -> str:
    """What the address asks of a scene, as the build's own Python reads it."""
    query = urlsplit(page.url).query
    if "/embed/" not in page.url:
        parts = [part for part in query.split("&") if part.startswith(f"{name}.")]
        query = "&".join(part.removeprefix(f"{name}.") for part in parts)
    return stage.answer(name, query).query


def agrees(page: Page, *names: str) -> None:
    """Wait until each scene shows what the address asks for."""
    for name in names:
        scene = SceneOnPage(page, name)
        until(scene.read, lambda now, name=name: now.state == asked(page, name), page)  # type: ignore[misc]
        assert scene.read().state == asked(page, name)


def fast(page: Page, pace: int = 60) -> None:
    """Let everything that plays play fast."""
    page.evaluate(
        "pace => document.querySelectorAll('[data-pace]').forEach((one) => { one.dataset.pace = pace; })",
        str(pace),
    )


def rest(page: Page) -> None:
    """Give what must not happen the time to happen."""
    page.wait_for_timeout(400)


def test_back_while_playing_goes_back_and_forward_comes_again(visit: Open) -> None:
    page = visit("embed/engine-map.html?round=3")
    scene = SceneOnPage(page, "engine-map")
    fast(page)
    for number in (4, 5):
        page.evaluate(NEXT)
        scene.shows(state=f"round={number}")
    page.evaluate(PLAY)
    until(scene.read, lambda now: int(now.state[6:]) > 6, page)
    for number in (4, 3):
        page.evaluate("history.back()")
        scene.shows(state=f"round={number}")
        rest(page)
        scene.shows(state=f"round={number}")
        agrees(page, "engine-map")
    expect(scene.control("play")).to_have_attribute("aria-pressed", "false")
    expect(scene.control("back")).to_have_attribute("aria-disabled", "true")
    page.evaluate("history.forward()")
    scene.shows(state="round=4")
    page.evaluate("history.forward()")
    assert int(until(scene.read, lambda now: now.state != "round=4", page).state[6:]) > 6
    agrees(page, "engine-map")


def test_a_link_within_the_page_leaves_what_has_been_played(visit: Open) -> None:
    page = visit("index.html?engine-map.round=2#engine-map")
    scene = SceneOnPage(page, "engine-map")
    fast(page)
    page.evaluate(PLAY)
    until(scene.read, lambda now: int(now.state[6:]) > 4, page)
    page.locator("nav a[href='#names']").click()
    played = scene.read().state
    rest(page)
    assert scene.read().state == played
    for hash, state in (("#engine-map", played), ("#engine-map", "round=2")):
        page.evaluate("history.back()")
        scene.shows(state=state)
        assert urlsplit(page.url).fragment == hash.removeprefix("#")
        agrees(page, "engine-map")


def test_a_step_that_is_stopped_before_its_answer_is_not_taken(visit: Open) -> None:
    page = visit("index.html?engine-map.round=2#engine-map")
    scene, growth = SceneOnPage(page, "engine-map"), SceneOnPage(page, "growth")
    page.evaluate(f"{PLAY}; {PLAY}")
    rest(page)
    scene.shows(state="round=2")
    page.locator("nav a[href='#names']").click()
    growth.control("more").click()
    growth.shows(state="step=3")
    agrees(page, "engine-map", "growth")
    page.evaluate("history.back()")
    growth.shows(state="step=2")
    assert urlsplit(page.url).fragment == "names"
    agrees(page, "engine-map", "growth")


def test_what_the_browser_let_wait_is_not_written_over_another_entry(visit: Open) -> None:
    page = visit("index.html")
    page.clock.install()
    page.goto("embed/one-traveller.html")
    page.wait_for_selector("html[data-python=ready]", state="attached")
    scene = SceneOnPage(page, "one-traveller")
    for number in range(67):  # more than browsers take within ten seconds
        page.evaluate(f"document.getElementById('one-traveller-{'less' if number % 2 else 'more'}').click()")
        scene.shows(state=f"items={8 if number % 2 else 9}")
    page.evaluate("history.back()")
    page.wait_for_timeout(300)
    page.clock.fast_forward(12_000)
    rest(page)
    agrees(page, "one-traveller")
    scene.control("more").click()
    agrees(page, "one-traveller")


def test_a_long_drag_is_one_entry_and_what_was_before_stays(visit: Open) -> None:
    page = visit("embed/one-traveller.html?items=5")
    scene = SceneOnPage(page, "one-traveller")
    entries = page.evaluate("history.length")
    for number in range(90):  # more than browsers take
        page.evaluate(
            """to => { const slider = document.getElementById("one-traveller-items");
            slider.value = to;
            slider.dispatchEvent(new Event("input", { bubbles: true })); }""",
            6 + number % 7,
        )
        scene.shows(state=f"items={6 + number % 7}")
    scene.control("items").evaluate("one => one.dispatchEvent(new Event('change', { bubbles: true }))")
    until(lambda: page.evaluate("history.length"), lambda length: length > entries, page)
    agrees(page, "one-traveller")
    page.evaluate("history.back()")
    scene.shows(state="items=5")
    agrees(page, "one-traveller")
    page.evaluate("history.forward()")
    scene.shows(state=f"items={6 + 89 % 7}")


def test_what_was_done_faster_than_browsers_take_it_survives_a_reload(visit: Open) -> None:
    page = visit("embed/growth.html")
    growth = SceneOnPage(page, "growth")
    for number in range(75):
        page.evaluate(f"document.getElementById('growth-{'less' if number % 2 else 'more'}').click()")
        growth.shows(state=f"step={2 if number % 2 else 3}")
    page.reload()
    page.wait_for_selector("html[data-python=ready]", state="attached")
    growth.shows(state="step=3")
    agrees(page, "growth")


def test_scenes_keep_each_others_part_while_the_address_waits(visit: Open) -> None:
    page = visit("index.html")
    for number in range(64):
        page.evaluate(f"document.getElementById('one-traveller-{'less' if number % 2 else 'more'}').click()")
    page.evaluate("document.getElementById('growth-more').click()")
    SceneOnPage(page, "growth").shows(state="step=3")
    page.evaluate("document.getElementById('one-traveller-less').click()")
    SceneOnPage(page, "one-traveller").shows(state="items=7")
    until(lambda: page.url, lambda url: "growth.step=3" in url and "items=7" in url, page)
    agrees(page, "growth", "one-traveller")


def test_the_way_back_is_that_of_the_entry_also_where_the_state_is_the_same(visit: Open) -> None:
    page = visit("embed/growth.html")
    growth = SceneOnPage(page, "growth")
    for control, state in (("more", "step=3"), ("less", "step=2")):
        growth.control(control).click()
        growth.shows(state=state)
    back = growth.control("back")
    expect(back).not_to_have_attribute("aria-disabled", "true")
    page.evaluate("history.go(-2)")
    expect(back).to_have_attribute("aria-disabled", "true")
    growth.shows(state="step=2")
    page.evaluate("history.go(2)")
    expect(back).not_to_have_attribute("aria-disabled", "true")
    back.click()
    growth.shows(state="step=3")


@pytest.fixture
def waiting(new_context: NewContext) -> tuple[Page, Callable[[], None]]:
    """A lesson whose Python does not come until it is let."""
    context = new_context()
    held: list[Route] = []
    context.route(WASM, lambda route: held.append(route))
    page = context.new_page()
    page.goto("index.html")
    until(lambda: held, bool, page)

    def let() -> None:
        context.unroute(WASM)  # which lets those go that are held
        page.wait_for_selector("html[data-python=ready]", state="attached")

    return page, let


@pytest.mark.parametrize("stop", ["pause", "scroll"])
def test_playing_that_was_stopped_before_python_came_does_not_begin_then(
    waiting: tuple[Page, Callable[[], None]], stop: str
) -> None:
    page, let = waiting
    batching = SceneOnPage(page, "batching")
    play = batching.control("play")
    play.scroll_into_view_if_needed()
    play.click()
    expect(play).to_have_attribute("aria-pressed", "true")
    if stop == "pause":
        play.click()
    else:
        page.evaluate("scrollTo(0, 0)")
    expect(play).to_have_attribute("aria-pressed", "false")
    batching.control("more-0").evaluate("one => one.click()")
    let()
    before = batching.shows(static__rounds=9).state
    rest(page)
    assert batching.read().state == before
    for rounds in ("round=0", "round=8"):  # before the change, and before playing
        expect(batching.control("back")).not_to_have_attribute("aria-disabled", "true")
        batching.control("back").evaluate("one => one.click()")
        batching.shows(state=f"needs=6,2,3,2,1,2&windows=3&{rounds}")
    expect(batching.control("back")).to_have_attribute("aria-disabled", "true")


def test_the_keyboard_goes_on_where_what_had_the_focus_is_gone(visit: Open) -> None:
    page = visit("embed/engine-map.html?round=11")
    scene = SceneOnPage(page, "engine-map")
    page.locator("#engine-map-whys summary").focus()
    scene.control("next").evaluate("one => one.click()")
    scene.shows(state="round=12")
    expect(page.locator("#engine-map-whys")).to_have_count(0)
    focused = "() => document.activeElement.closest('[data-scene]')?.id ?? ''"
    assert page.evaluate(focused) == "engine-map"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "engine-map"


def test_a_key_held_down_on_a_slider_asks_no_more_than_can_be_answered(visit: Open) -> None:
    page = visit("embed/one-traveller.html")
    scene = SceneOnPage(page, "one-traveller")
    entries = page.evaluate("history.length")
    changes = page.evaluate_handle(
        """() => { const states = [];
        addEventListener("lesson:change", ({ detail }) => states.push(detail.state));
        const slider = document.getElementById("one-traveller-items");
        for (let n = 0; n < 200; n += 1) {
          slider.value = n % 2 ? 12 : 3;
          for (const kind of ["input", "change"]) slider.dispatchEvent(new Event(kind, { bubbles: true }));
        }
        return states; }"""
    )
    rest(page)
    scene.control("more").evaluate("one => one.click()")  # is answered after all that waits
    until(lambda: changes.json_value()[-2:], lambda states: states == ["items=12"] * 2, page)
    assert len(changes.json_value()) < 40
    assert page.evaluate("history.length") < entries + 40
    agrees(page, "one-traveller")


WHILE_PLAYING = ("more", "less", "play", "other", "back", "back", "forward", "anchor", "step", "drag", "wait")
DO = """name => {
  const press = (id) => document.getElementById(id).click();
  const drag = (to) => {
    const slider = document.getElementById("engine-map-round");
    slider.value = to;
    for (const kind of ["input", "change"]) slider.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  globalThis.first ??= navigation.currentEntry.index;
  const does = {
    start: () => {
      document.getElementById("engine-map-play").scrollIntoView();
      press("engine-map-next");
      press("engine-map-play");
    },
    stop: () => document.querySelectorAll("[aria-pressed=true][data-step]").forEach((one) => one.click()),
    more: () => press("growth-more"), less: () => press("growth-less"), step: () => press("growth-back"),
    play: () => press("engine-map-play"), other: () => press("batching-play"),
    back: () => navigation.currentEntry.index > first && history.back(),
    forward: () => history.forward(),
    anchor: () => document.querySelector("nav a[href='#names']").click(),
    drag: () => drag(Math.floor(performance.now()) % 17), wait: () => {},
  };
  does[name]();
}"""


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_while_something_plays_address_and_scenes_agree(visit: Open, seed: int) -> None:
    chance = random.Random(f"history {seed}")
    page = visit("index.html?engine-map.round=2&batching.round=1")
    names = ("growth", "engine-map", "batching")
    fast(page)
    for _ in range(8):
        page.evaluate(DO, "start")
        page.wait_for_timeout(chance.choice((0, 30, 120)))
        for name in chance.sample(WHILE_PLAYING, chance.randint(1, 3)):
            page.evaluate(DO, name)
            page.wait_for_timeout(chance.choice((0, 5, 40)))
    page.evaluate(DO, "stop")
    rest(page)
    agrees(page, *names)
    for _ in range(3):
        page.evaluate(DO, "back")
        rest(page)
        agrees(page, *names)
