"""The scene contract, on which teachers, tests and other sites rely."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.reading import DEFAULTS, SCENES, SceneOnPage, until
from tests.conftest import ROOT, NewContext

RECORD = """
  const seen = [];
  globalThis.recorded = seen;
  new MutationObserver((changes) => {
    for (const { target, attributeName } of changes) {
      const value = target.getAttribute(attributeName);
      const name = target === document.documentElement ? "page" : target.id;
      if (attributeName !== "data-computed" || target.matches("[data-scene]")) seen.push(`${name} ${value}`);
    }
  }).observe(document, { subtree: true, attributeFilter: ["data-python", "data-computed"] });
  globalThis.changes = [];
  addEventListener("lesson:change", (event) => globalThis.changes.push([event.target.id, event.detail]));
"""


def test_a_page_becomes_live_as_a_whole(page: Page, ready: Callable[[Page], None]) -> None:
    page.add_init_script(RECORD)
    page.goto("index.html")
    ready(page)
    for name in SCENES:
        seen = SceneOnPage(page, name).read()
        assert (seen.state, seen.computed, seen.python) == (DEFAULTS[name], "live", "ready")
    recorded = page.evaluate("recorded")
    states = list(dict.fromkeys(one.split()[1] for one in recorded if one.startswith("page ")))
    assert states == ["loading", "ready"]
    live = recorded.index("page ready")
    assert sorted(recorded[i] for i in range(live) if recorded[i].endswith(" live")) == sorted(
        f"{name} live" for name in SCENES
    )
    assert page.evaluate("changes") == []  # nothing changed: the state is the one that was shown


def test_the_page_has_the_scenes_and_each_its_parts(desk: Page) -> None:
    found = desk.evaluate(
        """() => [...document.querySelectorAll("[data-scene]")].map((root) => ({
          name: root.dataset.scene, id: root.id, tag: root.tagName, class: root.className,
          statuses: root.querySelectorAll("[role=status]").length,
          title: document.getElementById(root.getAttribute("aria-labelledby"))?.textContent.trim(),
          foreign: [...root.querySelectorAll(`[id]:not([id^="${root.id}-"])`)].map((one) => one.id),
          live: root.querySelectorAll("output, [aria-live]").length,
          styles: root.querySelectorAll("[style], style").length,
        }))"""
    )
    assert [one["name"] for one in found] == list(SCENES)
    for one in found:
        assert one["id"] == one["name"]
        assert one["tag"] == "SECTION"
        assert "scene" in one["class"].split()
        assert (one["statuses"], one["live"], one["styles"], one["foreign"]) == (1, 0, 0, [])
        assert one["title"]


def test_every_control_is_a_real_one_with_a_name(desk: Page) -> None:
    controls = desk.locator("[data-action]")
    kinds = set(controls.evaluate_all("all => all.map((one) => one.tagName + ' ' + one.type)"))
    assert kinds <= {
        "BUTTON button",
        "INPUT range",
        "INPUT radio",
        "INPUT number",
        "INPUT checkbox",
        "SELECT select-one",
    }
    nameless = controls.evaluate_all(
        """all => all.filter((one) => !(one.getAttribute("aria-label")
        || [...(one.labels ?? [])].some((label) => label.textContent.trim())
        || (one.tagName === "BUTTON" && one.textContent.trim()))).map((one) => one.id)"""
    )
    assert nameless == []


ACTIONS = [
    ("growth", "more"),
    ("one-traveller", "more"),
    ("admission", "six"),
    ("block-table", "append"),
    ("batching", "shuffle"),
    ("engine-map", "next"),
    ("quiz", "q1-B"),
]


@pytest.mark.parametrize(("name", "control"), ACTIONS)
def test_an_action_is_told_once_and_as_it_is_shown(desk: Page, name: str, control: str) -> None:
    scene = SceneOnPage(desk, name)
    scene.reset()
    before = scene.read()
    handle = desk.evaluate_handle(
        """() => { const met = []; document.body.addEventListener("lesson:change",
        (event) => met.push([event.target.id, event.detail])); return met; }"""
    )
    scene.control(control).evaluate("one => one.click()")
    after = until(scene.read, lambda now: now.state != before.state, desk)
    assert after.state != before.state
    desk.wait_for_timeout(100)
    events = handle.json_value()
    assert [event[0] for event in events] == [name]
    detail = events[0][1]
    assert set(detail) == {"scene", "state", "quantities"}
    assert (detail["scene"], detail["state"]) == (name, after.state)
    assert {key: str(value) for key, value in detail["quantities"].items()} == after.figures
    assert after.said != before.said
    assert after.said


@pytest.mark.parametrize(("name", "control"), ACTIONS)
def test_an_answer_leaves_focus_and_what_was_opened(desk: Page, name: str, control: str) -> None:
    scene = SceneOnPage(desk, name)
    scene.reset()
    before = scene.read()
    for fold in scene.part("details").all():
        fold.evaluate("one => { one.open = true; }")
    opened = scene.part("details[open]").count()
    scene.control(control).focus()
    desk.keyboard.press("Space" if name == "quiz" else "Enter")
    assert until(scene.read, lambda now: now.state != before.state, desk).state != before.state
    expect(scene.control(control)).to_be_focused()
    expect(scene.part("details[open]")).to_have_count(opened)
    scene.reset()


def test_an_answer_leaves_a_box_where_it_was_scrolled(phone: Page) -> None:
    batching = SceneOnPage(phone, "batching")
    batching.reset()
    phone.locator("#batching-windows").select_option("1")
    batching.shows(static__rounds=16)
    box = batching.part("#batching-static .scroll")
    box.evaluate("one => one.scrollTo(200, 0)")
    where = box.evaluate("one => one.scrollLeft")
    assert where > 50
    batching.control("more-0").evaluate("one => one.click()")
    batching.shows(static__rounds=17)
    assert box.evaluate("one => one.scrollLeft") == where


def test_figures_in_the_text_follow_their_scene(desk: Page) -> None:
    for name, control, quantity, before, after in [
        ("one-traveller", "guess-11", "reserved.empty", "4", "11"),
        ("admission", "six", "paged.admitted", "6", "8"),
        ("admission", "preset-light", "reserved.empty", "27", "51"),
        ("admission", "preset-light", "paged.free", "21", "49"),
        ("block-table", "scatter", "a.page.3", "1", None),
        ("block-table", "append", "a.pages", "5", "6"),
        ("batching", "preset-late", "static.rounds", "8", "9"),
    ]:
        scene = SceneOnPage(desk, name)
        scene.reset()
        outside = desk.locator(f"main :not(.scene *)[data-of={name}][data-quantity='{quantity}']").first
        expect(outside).to_have_text(before)
        scene.control(control).evaluate("one => one.click()")
        expect(outside).to_have_text(after if after else re.compile(r"^([2-9]|1[0-6])$"))


def test_words_about_a_figure_go_when_it_is_gone(visit: Open) -> None:
    page = visit("index.html?block-table.a=7,11#paging")
    table = SceneOnPage(page, "block-table")
    words = page.locator("p > [data-while]")
    expect(words).to_be_hidden()
    table.control("append").click()
    locker = table.shows(a__pages=3).figures["a.page.3"]
    expect(words).to_be_visible()
    expect(words).to_contain_text(f" {locker} ")


def test_buttons_in_the_text_act_on_their_scene(desk: Page) -> None:
    admission = SceneOnPage(desk, "admission")
    admission.reset()
    for value, paged, used in (("light", 6, 11), ("over", 5, 56)):
        desk.locator(f".try[data-of=admission][value={value}]").click()
        admission.shows(paged__admitted=paged, paged__used=used, reserved__admitted=5)
    expect(
        desk.locator(".try[data-of=admission][value=over]")
    ).to_be_focused()  # where the reader was reading


@pytest.mark.parametrize(
    ("name", "query", "figures"),
    [
        ("growth", "step=4", {"items": 12, "next_locker": "", "reserved__empty": 0}),
        ("one-traveller", "items=1", {"reserved__empty": 11, "paged__free": 11}),
        (
            "admission",
            "luggage=12,11,12,10,11,9,3,1,4&order=skip",
            {"paged__admitted": 7, "paged__waiting": 2},
        ),
        ("block-table", "a=7,1,3&b=&c=16&page=2", {"a__pages": 3, "free": 12}),
        ("batching", "needs=6,2,4,2,1,2&windows=3&round=4", {"static__idle": 7, "continuous__idle": 1}),
        ("engine-map", "round=0", {"blocks__free": 60, "tokens": 0}),
        ("quiz", "q1=B&q2=A&q3=&q4=C&seed=7", {"score": 2}),
    ],
)
def test_an_embed_shows_what_its_address_says(
    visit: Open, name: str, query: str, figures: dict[str, object]
) -> None:
    page = visit(f"embed/{name}.html?{query}")
    scene = SceneOnPage(page, name)
    seen = scene.shows(state=query, **figures)
    assert (seen.computed, seen.python) == ("live", "ready")
    assert page.locator("[data-scene]").count() == 1
    assert page.locator("h1").count() == 1
    scene.control("reset").click()
    scene.shows(state=DEFAULTS[name])
    assert page.url.split("?")[0].endswith(f"embed/{name}.html")
    assert "?" not in page.url  # the default is the address without a query
    scene.control("back").click()
    scene.shows(state=query, **figures)


def test_the_readme_gives_heights_that_hold_a_scene(
    new_context: NewContext, ready: Callable[[Page], None]
) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    said = text[text.index("720 px wide") :].partition("\n\n")[0]
    heights = dict(re.findall(r"`([a-z-]+)`\s([0-9]+)", said))
    assert list(heights) == list(SCENES)
    assert f'width="720" height="{heights["admission"]}"' in text
    page = new_context(viewport={"width": 720, "height": 400}).new_page()
    for name, height in heights.items():
        page.goto(f"embed/{name}.html")
        ready(page)
        needed = page.evaluate("document.documentElement.scrollHeight")
        assert needed <= int(height) <= needed * 1.15, (name, needed)
    page.goto("embed/quiz.html?q1=A&q2=A&q3=A&q4=A")
    ready(page)
    (answered,) = re.findall(r"([0-9]+) once", said)
    assert page.evaluate("document.documentElement.scrollHeight") <= int(answered)
