"""Whoever reads, however they read: WCAG 2.2 AA, by a machine where it can tell, by own checks where not.

What a screen reader is told of each scene is on file in aria/. After a change that is meant, renew it with
``RENEW_ARIA=1 .venv/bin/python -m pytest tests/looks/test_accessibility.py`` and read the difference.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from scenes import stage
from tests.browser.reading import until
from tests.conftest import Guard, NewContext, guarded, ready

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ARIA = HERE / "aria"
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SCENES = ("growth", "one-traveller", "admission", "block-table", "batching", "engine-map", "quiz")
TWELVE = ",".join(["12"] * 12)
MOST = f"admission.luggage={','.join(['12'] * 36)}&batching.needs={TWELVE}&batching.windows=6"
OPENED = f"block-table.a=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16&quiz.q1=B&quiz.q2=A&growth.step=4&{MOST}"
WRONG = "growth.step=99&quiz.q1=Z&admission.order=x&batching.needs=0&engine-map.round=-1"
STATES = {"default": "", "most": OPENED, "wrong": WRONG}
EMBEDS = {
    "growth": "step=4",
    "one-traveller": "items=12",
    "admission": f"luggage={','.join(['12'] * 36)}",
    "block-table": "a=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
    "batching": f"needs={TWELVE}&windows=6",
    "engine-map": "round=12",
    "quiz": "q1=B&q2=A&q3=D&q4=C",
}

LAID_OUT = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("main > * { content-visibility: visible !important; }");
  document.adoptedStyleSheets.push(sheet);
}"""
"""What measures the page is to find all of it laid out, not only what is near the window."""

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def _context(browser: Browser, server: str) -> Iterator[tuple[BrowserContext, Guard]]:
    guard = Guard(server)
    context = guarded(browser, guard)
    yield context, guard
    context.close()


@pytest.fixture
def visit(_context: tuple[BrowserContext, Guard]) -> Iterator[Open]:
    """Open a live page, of a width that may be given; everything that folds is unfolded if asked for."""
    context, guard = _context
    guard.seen.clear()
    pages: list[Page] = []

    def opened(address: str, width: int = 1280, unfold: bool = False, whole: bool = True) -> Page:
        page = context.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(address)
        ready(page)
        if whole:
            page.evaluate(LAID_OUT)
        if unfold:
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        return page

    yield opened
    for page in pages:
        page.close()
    guard.finish()


# machines

RUN = """async (only) => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const all = { runOnly: tags, rules: { "target-size": { enabled: true } } };
  const { violations } = await axe.run(only ? { runOnly: { type: "rule", values: only } } : all);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) =>
    `${id}: ${target.join(" ")}: ${[...any, ...all, ...none].map((one) => one.message).join("; ")}`));
}"""
OF_COLOUR = ["color-contrast", "link-in-text-block"]


def findings(page: Page) -> list[str]:
    """Run axe as it stands in node_modules on light paper, then on dark for all that colour matters to."""
    page.evaluate(AXE.read_text(encoding="utf-8"))  # the page's policy does not hold up what a test brings
    page.emulate_media(color_scheme="light")
    found: list[str] = page.evaluate(RUN)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark: {one}" for one in page.evaluate(RUN, OF_COLOUR)]


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_in_the_lesson(visit: Open, state: str) -> None:
    assert findings(visit(f"index.html?{STATES[state]}", unfold=state == "most")) == []


@pytest.mark.parametrize("name", SCENES)
def test_axe_finds_nothing_in_an_embed(visit: Open, name: str) -> None:
    assert findings(visit(f"embed/{name}.html", width=390)) == []


def test_axe_sees_what_is_wrong(visit: Open) -> None:
    page = visit("embed/growth.html")
    page.evaluate(
        """() => { document.querySelector("#growth-step").removeAttribute("aria-label");
        document.documentElement.removeAttribute("lang"); }"""
    )
    assert {one.split(":")[0] for one in findings(page)} == {"html-has-lang", "label"}


def test_axe_finds_nothing_where_python_cannot_start(new_context: NewContext) -> None:
    context = new_context(viewport={"width": 390, "height": 800})
    context.route("**/*.wasm*", lambda route: route.abort())
    page = context.new_page()
    page.goto("index.html")
    page.wait_for_selector("html[data-python=failed]")
    page.evaluate(LAID_OUT)
    assert findings(page) == []


def test_every_page_is_valid_html(site: Path) -> None:
    pages = sorted(str(page) for page in site.rglob("*.html"))
    assert len(pages) == 1 + len(stage.SCENES)
    tool = ROOT / "node_modules" / ".bin" / "html-validate"
    command = [str(tool), "--config", str(ROOT / ".htmlvalidate.json"), "--formatter", "json", *pages]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    found = [
        f"{Path(report['filePath']).name}:{one['line']}: {one['ruleId']}: {one['message']}"
        for report in json.loads(run.stdout)
        for one in report["messages"]
    ]
    assert found == []
    assert run.returncode == 0, run.stderr


# reflow, text spacing, targets


@pytest.mark.parametrize("state", ["default", "most"])
def test_the_lesson_fits_a_width_of_320(visit: Open, state: str) -> None:
    page = visit(f"index.html?{STATES[state]}", width=320, unfold=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert overflowing(page) == []


@pytest.mark.parametrize("name", SCENES)
def test_an_embed_fits_a_width_of_320(visit: Open, name: str) -> None:
    page = visit(f"embed/{name}.html?{EMBEDS[name]}", width=320, unfold=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert overflowing(page) == []


def overflowing(page: Page) -> list[str]:
    """Name what reaches beyond the window and does not scroll within a box that keys can reach."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main *, nav *")].filter((one) => {
          const box = one.getBoundingClientRect();
          if (!box.width || !box.height || box.right <= innerWidth + 1) return false;
          const scroller = one.parentElement.closest(".scroll, [tabindex='0'], nav ol");
          return !scroller && one.closest("svg, .sr, .skip") === null;
        }).map((one) => one.id || one.outerHTML.slice(0, 80))"""
    )
    return found


@pytest.mark.parametrize("width", [320, 1280])
def test_wider_text_spacing_loses_nothing(visit: Open, width: int) -> None:
    page = visit("index.html", width=width)
    page.evaluate(
        """() => { const sheet = new CSSStyleSheet();
        sheet.replaceSync(`p { margin-bottom: 2em !important; }
          * { line-height: 1.5 !important; letter-spacing: .12em !important }
          * { word-spacing: .16em !important }`);
        document.adoptedStyleSheets.push(sheet); }"""
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert overflowing(page) == []
    cut = page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((one) => {
          const style = getComputedStyle(one);
          const hides = [style.overflowX, style.overflowY].some((how) => how === "hidden" || how === "clip");
          return hides && !one.closest(".sr, svg") && one.textContent.trim() &&
            (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1);
        }).map((one) => one.id || one.outerHTML.slice(0, 80))"""
    )
    assert cut == []


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_targets_are_24_pixels(visit: Open, width: int) -> None:
    page = visit("index.html?admission.luggage=1,2,3,4,5,6,7,8,9,10,11,12,1", width=width, unfold=True)
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, summary, nav a")].filter((one) => {
          if (!one.checkVisibility()) return false;
          const target = (one.type === "radio" && one.labels[0]) || one;
          const { width, height } = target.getBoundingClientRect();
          return width < 24 || height < 24;
        }).map((one) => { const { width, height } = one.getBoundingClientRect();
          return `${one.id || one.outerHTML.slice(0, 60)} ${width} x ${height}`; })"""
    )
    assert small == []


# the keyboard

WALK = """() => {
  const one = document.activeElement;
  const target = (one.type === "radio" && one.labels[0]) || one;
  const box = target.getBoundingClientRect();
  const nav = document.querySelector("nav");
  const bar = nav.contains(one) || one.matches(".skip") ? 0 : nav.getBoundingClientRect().bottom;
  const outlined = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const shown = [one, target, one.nextElementSibling ?? one].some((part) => outlined(getComputedStyle(part)));
  const all = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")];
  const name = one.id || one.textContent.trim().slice(0, 30) || one.outerHTML.slice(0, 60);
  const seen = box.bottom > bar + 1 && box.top < innerHeight - 1 && box.top >= bar - 2;
  return { name, index: all.indexOf(one), shown, seen, atEnd: one === document.body };
}"""


def test_focus_follows_the_document_is_visible_and_never_hidden(visit: Open) -> None:
    page = visit("index.html?admission.luggage=8,5,10,3,7,6,8,5")
    met: list[dict[str, Any]] = []
    while len(met) < 300:
        page.keyboard.press("Tab")
        here = page.evaluate(WALK)
        if here["atEnd"] or (met and here["index"] == met[0]["index"]):
            break
        met.append(here)
    indexes = [one["index"] for one in met]
    assert 100 < len(met) < 300
    assert indexes == sorted(indexes)  # tables and controls in the order in which they are read
    assert len(set(indexes)) == len(indexes)
    assert [one["name"] for one in met if not one["shown"]] == []
    assert [one["name"] for one in met if not one["seen"]] == []
    names = {one["name"] for one in met}
    must = {"growth-more", "one-traveller-items", "admission-items-7", "block-table-append", "batching-play",
            "engine-map-round", "quiz-again", "quiz-link", "admission-table"}  # fmt: skip
    assert must - names - {"admission-table"} == set()
    assert met[0]["name"] == page.locator(".skip").inner_text()


def test_the_link_at_the_top_leads_to_the_text(visit: Open) -> None:
    page = visit("index.html")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


@pytest.mark.parametrize("address", ["index.html", "index.html?quiz.q1=B#quiz", "embed/quiz.html"])
def test_nothing_takes_the_focus_on_load(visit: Open, address: str) -> None:
    page = visit(address)
    assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_single_letters_do_nothing(visit: Open) -> None:
    page = visit("index.html")
    states = "[...document.querySelectorAll('[data-scene]')].map((one) => one.dataset.state)"
    before = page.evaluate(states)
    page.locator("#batching-play").focus()
    page.keyboard.type("abcdefghijklmnopqrstuvwxyz1234567890,.?/")
    page.wait_for_timeout(200)
    assert page.evaluate(states) == before


def test_arrows_step_a_player_that_has_the_focus(visit: Open) -> None:
    page = visit("index.html")
    root = page.locator("#batching")
    page.locator("#batching-play").focus()
    for key, now in (("ArrowLeft", 7), ("ArrowLeft", 6), ("ArrowRight", 7)):
        page.keyboard.press(key)
        expect(root).to_have_attribute("data-state", f"needs=6,2,3,2,1,2&windows=3&round={now}")
    expect(page.locator("#batching-play")).to_be_focused()
    page.locator("#batching-windows").focus()  # not a part of the player: its arrows are its own
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(150)
    assert "round=7" in str(root.get_attribute("data-state")) or "windows=3" not in str(
        root.get_attribute("data-state")
    )


def test_scrolling_boxes_can_be_reached_and_are_named(visit: Open) -> None:
    page = visit(f"index.html?{MOST}", width=390, unfold=True)
    wrong = page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((one) => {
          const { overflowX } = getComputedStyle(one);
          return (overflowX === "auto" || overflowX === "scroll") && one.scrollWidth > one.clientWidth + 1 &&
            !(one.tabIndex === 0 && (one.getAttribute("aria-label") || one.getAttribute("aria-labelledby")));
        }).map((one) => one.id || one.outerHTML.slice(0, 80))"""
    )
    assert wrong == []


# motion


def test_playing_begins_only_when_asked(visit: Open) -> None:
    page = visit("index.html")
    for button in page.locator("[data-action=play]").all():
        expect(button).to_have_attribute("aria-pressed", "false")
    assert page.locator("[data-playing]").count() == 0


def test_playing_stops_off_screen_and_on_a_page_that_keeps_still(visit: Open) -> None:
    page = visit("index.html?engine-map.round=0")
    play = page.locator("#engine-map-play")
    play.click()
    expect(play).to_have_attribute("aria-pressed", "true")
    page.evaluate("scrollTo(0, 0)")
    expect(play).to_have_attribute("aria-pressed", "false")
    still = visit("embed/engine-map.html?round=0&freeze=1")
    still.locator("#engine-map-play").click()
    still.wait_for_timeout(300)
    expect(still.locator("#engine-map")).to_have_attribute("data-state", "round=0")


MOVING = """() => { const found = [];
  for (const one of document.querySelectorAll("*")) {
    const style = getComputedStyle(one);
    const long = (text) => text.split(",").some((part) => parseFloat(part) > 0);
    const animated = style.animationName !== "none" && long(style.animationDuration);
    if (animated || long(style.transitionDuration)) found.push(one.id || one.className);
  }
  return found; }"""


def test_reduced_motion_stops_all_motion(visit: Open) -> None:
    page = visit("index.html")
    assert page.evaluate(MOVING) == []
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(MOVING) != []  # there is some to be stopped


# what a screen reader is told


def test_the_tree_of_each_scene_is_the_one_on_file(visit: Open) -> None:
    page = visit("index.html")
    problems = []
    for name in SCENES:
        tree = page.locator(f"#{name}").aria_snapshot() + "\n"
        file = ARIA / f"{name}.yml"
        if os.environ.get("RENEW_ARIA"):
            file.write_text(tree, encoding="utf-8")
        if not file.is_file():
            problems.append(f"{file.name} is missing")
            continue
        expect(page.locator(f"#{name}")).to_match_aria_snapshot(file.read_text(encoding="utf-8"))
        if file.read_text(encoding="utf-8") != tree:
            problems.append(f"{name} differs from {file.name}")
    assert problems == []


def test_pictures_have_names_and_languages_are_marked(visit: Open) -> None:
    page = visit("index.html")
    assert page.locator("html").get_attribute("lang") == "zh-Hant-TW"
    bare = page.evaluate(
        """() => [...document.querySelectorAll("svg:not([aria-hidden=true])")].filter((one) => {
          const name = one.querySelector("title")?.textContent || one.getAttribute("aria-label");
          return one.getAttribute("role") !== "img" || !name;
        }).map((one) => one.id || one.outerHTML.slice(0, 60))"""
    )
    assert bare == []
    phrases = page.evaluate(
        """() => { const found = [];
        const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode())
          if (/[A-Za-z]+ [a-z]+ [a-z]+/.test(node.data) && node.parentElement.closest("[lang]").lang !== "en")
            found.push(node.data.trim());
        return found; }"""
    )
    assert phrases == []


def test_headings_do_not_skip_a_level(visit: Open) -> None:
    for address in ("index.html", "embed/batching.html"):
        levels = visit(address).evaluate(
            "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((one) => Number(one.tagName[1]))"
        )
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


CHOSEN = """id => { const of = (one) => getComputedStyle(one).backgroundColor;
  const labels = [...document.querySelectorAll(`#${id} label`)];
  const chosen = labels.filter((one) => one.querySelector("input").checked);
  const others = labels.filter((one) => !chosen.includes(one));
  return [chosen, others].map((some) => [...new Set(some.map((one) => of(one.querySelector("span"))))]); }"""


def test_what_is_chosen_is_seen_where_the_system_chooses_the_colours(visit: Open) -> None:
    page = visit("index.html")
    page.emulate_media(forced_colors="active")
    for fieldset in ("admission-presets", "admission-order", "batching-presets"):
        chosen, others = page.evaluate(CHOSEN, fieldset)
        assert len(chosen) == len(others) == 1
        assert chosen != others
    page.emulate_media(forced_colors="none")


def test_marks_that_are_colour_alone_stay_where_the_system_chooses_the_colours(visit: Open) -> None:
    page = visit("index.html?batching.round=3")
    page.emulate_media(forced_colors="active")
    swatches = [page.locator(f".growth-figure .{kind}").first for kind in ("s-old", "s-new", "s-free")]
    backs = [one.evaluate("one => getComputedStyle(one).backgroundColor") for one in swatches]
    assert len(set(backs)) == len(backs)
    marked = page.locator("#batching td.now")
    assert marked.count() > 0
    for one in marked.all():
        assert one.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    bars = page.locator("#block-table-table tbody th").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).borderLeftColor)"
    )
    assert len(set(bars)) == 2
    assert bars.count(bars[2]) == 1  # page 3 is chosen
    page.emulate_media(forced_colors="none")


def test_nothing_is_hidden_beside_the_page_whichever_way_it_is_read(visit: Open) -> None:
    page = visit("index.html")
    page.evaluate("document.documentElement.dir = 'rtl'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


# the line of stops

STOP = "() => document.querySelector('nav.line [aria-current]').getAttribute('href')"


@pytest.mark.parametrize("width", [390, 1280])
def test_the_line_marks_the_chapter_that_is_read(visit: Open, width: int) -> None:
    page = visit("index.html", width=width)
    chapters = page.evaluate("[...document.querySelectorAll('main h2[id]')].map((one) => one.id)")
    stops = page.evaluate("[...document.querySelectorAll('nav.line a')].map((one) => one.hash.slice(1))")
    assert stops == ["top", *chapters]
    for name in (stops[4], stops[1], stops[-1], stops[0], stops[6]):  # far jumps, either way
        page.evaluate("name => document.getElementById(name).scrollIntoView({ behavior: 'instant' })", name)
        assert until(lambda: page.evaluate(STOP), f"#{name}".__eq__, page) == f"#{name}"
    left = "() => [scrollY, document.documentElement.scrollHeight - innerHeight - scrollY].map(Math.round)"
    for key, name, side in (("End", stops[-1], 1), ("Home", stops[0], 0)):
        page.keyboard.press(key)  # browsers glide there
        until(lambda: page.evaluate(left), lambda now, side=side: now[side] <= 1, page)  # type: ignore[misc]
        assert until(lambda: page.evaluate(STOP), f"#{name}".__eq__, page) == f"#{name}"
        link = page.locator(f"nav.line a[href='#{name}']")
        expect(link).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("width", [390, 820, 1280])
@pytest.mark.parametrize("how", ["address", "link"])
def test_the_last_stop_is_reached_also_while_the_page_is_loading(
    new_context: NewContext, width: int, how: str
) -> None:
    page = new_context(viewport={"width": width, "height": 900}).new_page()
    if how == "address":
        page.goto("index.html#reading")
    else:
        page.goto("index.html", wait_until="commit")
        page.locator("nav.line a[href='#reading']").click()
    ready(page)
    page.wait_for_selector("html.is-whole", state="attached")
    page.wait_for_timeout(300)
    top = "() => document.getElementById('reading').getBoundingClientRect().top"
    found = page.evaluate(top)
    page.evaluate("document.getElementById('reading').scrollIntoView({ behavior: 'instant' })")
    assert abs(page.evaluate(top) - found) <= 4
    assert page.evaluate(STOP) == "#reading"


def test_a_link_to_a_scene_and_one_to_a_chapter_stop_at_the_same_height(visit: Open) -> None:
    page = visit("index.html")
    tops = {}
    for name in ("luggage", "growth", "admission"):
        page.evaluate("name => { location.hash = name; }", name)
        page.wait_for_timeout(100)
        tops[name] = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", name)
    assert max(tops.values()) - min(tops.values()) < 3


@pytest.mark.parametrize("scene", ["one-traveller", "admission", "batching"])
def test_a_guess_can_be_read_under_the_pointer(visit: Open, scene: str) -> None:
    page = visit(f"embed/{scene}.html")
    guess = page.locator(f"#{scene} .guess button").first
    guess.click()
    expect(guess).to_have_attribute("aria-pressed", "true")
    guess.hover()
    assert findings(page) == []


# what is far from the window

READ = """() => { const one = [...document.querySelectorAll("main > *")]
    .find((one) => one.getBoundingClientRect().bottom > 100);
  return [one.textContent.trim().slice(0, 20), Math.round(one.getBoundingClientRect().top)]; }"""


def stays(before: list[object], found: list[object]) -> bool:
    """Whether the same part of the page stands at the same height, by two looks at what is read."""
    return found[0] == before[0] and abs(float(str(found[1])) - float(str(before[1]))) <= 4


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("how", ["reload", "back"])
def test_a_page_that_is_come_back_to_stands_where_it_was(visit: Open, width: int, how: str) -> None:
    page = visit("index.html", width=width, whole=False)
    page.wait_for_selector("html.is-whole", state="attached")
    for depth in (4200, 9100, 12_500, 5000):
        page.evaluate("top => scrollTo({ top, behavior: 'instant' })", depth)
        page.wait_for_timeout(200)
        before = page.evaluate(READ)
        if how == "reload":
            page.reload()
        else:
            page.goto("embed/quiz.html")
            page.go_back()
        ready(page)
        page.wait_for_timeout(300)
        assert stays(before, page.evaluate(READ))


WASM = "**/*.wasm*"


@pytest.fixture
def unlaid(new_context: NewContext) -> Callable[[int], Page]:
    """Open the lesson, of a width, of which only what is near the window is laid out: Python is held back."""

    def opened(width: int) -> Page:
        context = new_context(viewport={"width": width, "height": 800})
        held: list[Route] = []
        context.route(WASM, lambda route: held.append(route))
        page = context.new_page()
        page.goto("index.html")
        assert page.locator("html.is-whole").count() == 0
        return page

    return opened


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("depth", [2000, 9000, 99_999])
def test_laying_out_the_rest_moves_nothing_under_the_eyes(
    unlaid: Callable[[int], Page], width: int, depth: int
) -> None:
    page = unlaid(width)
    before = page.evaluate(JUMP, depth)
    page.wait_for_selector("html.is-whole", state="attached")
    page.wait_for_timeout(200)
    assert stays(before, page.evaluate(READ))
    assert page.locator("html").get_attribute("data-python") == "loading"
    page.context.unroute(WASM)  # which lets go what was held


@pytest.mark.parametrize("width", [390, 1280])
def test_reading_on_moves_nothing_under_the_eyes(unlaid: Callable[[int], Page], width: int) -> None:
    page = unlaid(width)
    page.evaluate(JUMP, 99_999)
    for step in (-400, 400):  # up from the end over what was jumped over, and down again
        for _ in range(25):
            before, after = page.evaluate(SCROLL, step)
            assert abs(after - before) <= 2
    page.context.unroute(WASM)


JUMP = f"""async (top) => {{
  scrollTo({{ top, behavior: "instant" }});
  const inWindow = (one) => {{
    const {{ top, bottom }} = one.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }};
  const isLaid = (one) => (one.firstElementChild ?? one).checkVisibility({{ contentVisibilityAuto: true }});
  do await new Promise(requestAnimationFrame);
  while (![...document.querySelectorAll("main > *")].filter(inWindow).every(isLaid));
  return ({READ})();
}}"""
"""Go to a height at once, and look as soon as what is in the window there is laid out."""


SCROLL = """async (step) => {
  const seen = [...document.querySelectorAll("main > *, main .scene *")].filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight && bottom > top;
  });
  const one = seen[seen.length >> 1];
  if (!one) return [0, 0];
  const [from, top] = [scrollY, one.getBoundingClientRect().top];
  scrollBy({ top: step, behavior: "instant" });
  const done = scrollY - from;
  for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
  return [top - done, one.getBoundingClientRect().top];
}"""
