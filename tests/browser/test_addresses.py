"""Every state has an address: in and out, good and bad, back and forward."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.reading import DEFAULTS, SCENES, SceneOnPage, until

LOW = {
    "growth": "step=0",
    "one-traveller": "items=1",
    "admission": "luggage=1&order=skip",
    "block-table": "a=&b=&c=&page=1",
    "batching": "needs=1&windows=1&round=0",
    "engine-map": "round=0",
    "quiz": "q1=A&q2=A&q3=A&q4=A&seed=0",
}
HIGH = {
    "growth": "step=4",
    "one-traveller": "items=12",
    "admission": "luggage=" + ",".join(["12"] * 36) + "&order=fcfs",
    "block-table": "a=" + ",".join(map(str, range(16, 0, -1))) + "&b=&c=&page=16",
    "batching": "needs=" + ",".join(["12"] * 12) + "&windows=6&round=24",
    "quiz": "q1=D&q2=D&q3=D&q4=D&seed=9999",
}
FIGURES = {
    "low": {
        "growth": {"items": 3}, "one-traveller": {"reserved__empty": 11},
        "admission": {"reserved__admitted": 1, "paged__used": 1, "paged__free": 59},
        "block-table": {"a__pages": 0, "free": 16}, "batching": {"static__slots": 1, "continuous__idle": 0},
        "engine-map": {"blocks__free": 60, "running": 0}, "quiz": {"score": 0},
    },
    "high": {
        "growth": {"items": 12, "next_locker": ""}, "one-traveller": {"reserved__empty": 0},
        "admission": {"paged__admitted": 5, "paged__waiting": 31, "reserved__admitted": 5, "total": 432},
        "block-table": {"a__pages": 16, "free": 0}, "batching": {"static__rounds": 24, "static__idle": 0},
        "engine-map": {"waiting": 0}, "quiz": {"score": 0},
    },
}  # fmt: skip


def prefixed(states: dict[str, str]) -> str:
    """Write the states of scenes as the lesson's address has them."""
    return "&".join(f"{name}.{part}" for name, query in states.items() for part in query.split("&"))


@pytest.mark.parametrize("end", ["low", "high"])
def test_both_ends_of_every_control_have_an_address(visit: Open, desk: Page, end: str) -> None:
    last = desk.locator("#engine-map-round").get_attribute("max")
    states = LOW if end == "low" else {**HIGH, "engine-map": f"round={last}"}
    page = visit(f"index.html?{prefixed(states)}")
    for name, query in states.items():
        seen = SceneOnPage(page, name).shows(state=query, **FIGURES[end][name])
        assert not any(
            f" {part.split('=')[0]} " in seen.said for part in query.split("&")
        )  # nothing was corrected


def test_an_address_opens_at_its_scene(visit: Open) -> None:
    page = visit("index.html?batching.windows=2&quiz.seed=3#batching")
    SceneOnPage(page, "batching").shows(state="needs=6,2,3,2,1,2&windows=2&round=11")
    SceneOnPage(page, "quiz").shows(state="q1=&q2=&q3=&q4=&seed=3")
    top = page.evaluate("document.getElementById('batching').getBoundingClientRect().top")
    bar = page.evaluate("document.querySelector('nav').getBoundingClientRect().bottom")
    assert bar - 2 <= top < page.evaluate("innerHeight") / 2


BAD = {
    "growth": ("step=99", "step=4"),
    "one-traveller": ("items=lots", "items=8"),
    "admission": ("luggage=0,13,x,2.4,%E0%A4&order=sideways", "luggage=1,12,10,2,7&order=fcfs"),
    "block-table": ("a=7,7,3,99&b=7,2&c=2,5&page=9", "a=7,3,16&b=2&c=5&page=3"),
    "batching": ("needs=6,-2,99&windows=0&round=999", "needs=6,1,12&windows=1&round=19"),
    "engine-map": ("round=-5", "round=0"),
    "quiz": ("q1=Z&q2=B&seed=1e9", "q1=&q2=B&q3=&q4=&seed=9999"),
}
KEYS = {
    "growth": "step",
    "one-traveller": "items",
    "admission": "luggage",
    "block-table": "7",
    "batching": "needs",
    "engine-map": "round",
    "quiz": "q1",
}


def test_what_is_malformed_becomes_valid_and_is_told(visit: Open) -> None:
    page = visit("index.html?" + prefixed({name: bad for name, (bad, _) in BAD.items()}))
    for name, (_, good) in BAD.items():
        seen = SceneOnPage(page, name).shows(state=good)
        assert KEYS[name] in seen.said
        assert len(seen.said) > len(DEFAULTS[name])


@pytest.mark.parametrize("name", SCENES)
def test_embeds_tell_it_too_and_act_on(visit: Open, name: str) -> None:
    page = visit(f"embed/{name}.html?{BAD[name][0]}")
    scene = SceneOnPage(page, name)
    said = scene.shows(state=BAD[name][1]).said
    assert KEYS[name] in said
    correction = said.split("。")[0]
    scene.control("reset").click()
    scene.shows(state=DEFAULTS[name])
    assert correction not in until(scene.read, lambda now: correction not in now.said, page).said


@pytest.mark.parametrize(
    "query",
    [
        "&&=&?&.&=5",
        "growth&growth.&growth.step",
        "growth.step=%ZZ&%E0%A4%A=1",
        "%67rowth.step=4#no-such-place",
        "a=<b>&x='\"",
    ],
)
def test_no_address_breaks_the_page(visit: Open, query: str) -> None:
    page = visit(f"index.html?{query}")
    growth = SceneOnPage(page, "growth")
    growth.shows(state="step=4" if query.startswith("%67") else "step=2")
    growth.control("less").click()
    growth.shows(state="step=3" if query.startswith("%67") else "step=1")


def test_too_many_are_cut_and_it_is_told(visit: Open) -> None:
    many = ",".join(["2"] * 50)
    page = visit(f"index.html?admission.luggage={many}&batching.needs={many}")
    admission = SceneOnPage(page, "admission").shows(total=72)
    assert re.search(r"50.* 36 ", admission.said)
    batching = SceneOnPage(page, "batching").shows(static__rounds=8)
    assert re.search(r"50.* 12 ", batching.said)


def test_foreign_keys_stay_and_the_last_of_a_repeated_key_wins(visit: Open) -> None:
    page = visit("index.html?utm=a%20b&growth.step=0&lab=2&growth.step=3&plus=1+1#growth")
    growth = SceneOnPage(page, "growth")
    growth.shows(state="step=3")
    growth.control("more").click()
    growth.shows(state="step=4")
    address = urlsplit(page.url)
    assert sorted(address.query.split("&")) == ["growth.step=4", "lab=2", "plus=1+1", "utm=a%20b"]
    assert address.fragment == "growth"
    growth.control("less").click()
    growth.control("less").click()
    growth.shows(state="step=2")
    assert sorted(urlsplit(page.url).query.split("&")) == ["lab=2", "plus=1+1", "utm=a%20b"]


def test_reserved_keys_of_an_embed_are_not_the_scenes(visit: Open) -> None:
    page = visit("embed/growth.html?step=1&theme=dark&lock=1&compact=1&freeze=1&step=4")
    growth = SceneOnPage(page, "growth")
    growth.shows(state="step=4")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    growth.control("less").click()
    growth.shows(state="step=3")
    assert sorted(urlsplit(page.url).query.split("&")) == [
        "compact=1",
        "freeze=1",
        "lock=1",
        "step=3",
        "theme=dark",
    ]


def test_an_empty_list_is_a_value(visit: Open) -> None:
    page = visit("index.html?block-table.b=&block-table.page=1")
    table = SceneOnPage(page, "block-table")
    table.shows(state="a=7,11,1,14,4&b=&c=5,10,12,13&page=1", free=7)
    table.control("append").click()
    table.shows(free=6)
    assert "block-table.b=&" in urlsplit(page.url).query + "&"
    page.reload()
    table.shows(free=6, a__pages=6)


def test_keys_come_in_their_declared_order_with_bare_commas(visit: Open) -> None:
    page = visit("embed/batching.html?round=2&windows=2&needs=1%2C2%2C3")
    batching = SceneOnPage(page, "batching")
    batching.shows(state="needs=1,2,3&windows=2&round=2")
    batching.control("next").click()
    batching.shows(state="needs=1,2,3&windows=2&round=3")
    assert unquote(urlsplit(page.url).query) == urlsplit(page.url).query
    assert "needs=1,2,3" in urlsplit(page.url).query


def test_a_reload_goes_on_where_it_was(visit: Open) -> None:
    page = visit("index.html")
    admission, quiz = SceneOnPage(page, "admission"), SceneOnPage(page, "quiz")
    admission.control("six").click()
    admission.shows(paged__admitted=8)
    quiz.control("q1-B").check()
    quiz.shows(score=1)
    page.reload()
    page.wait_for_selector("html[data-python=ready]", state="attached")
    admission.shows(state="luggage=" + ",".join(["8,5,10,3,7,6"] * 2) + "&order=fcfs", paged__admitted=8)
    quiz.shows(score=1)
    admission.control("back").click()  # the way back is remembered too
    admission.shows(state=DEFAULTS["admission"])


def test_a_field_that_the_browser_fills_again_shows_what_the_scene_says(visit: Open) -> None:
    page = visit("index.html")
    items = page.locator("#admission-items-0")
    items.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("3")  # typed, and not yet said
    page.goto("embed/quiz.html")
    page.go_back()
    page.wait_for_selector("html[data-python=ready]", state="attached")
    SceneOnPage(page, "admission").shows(state=DEFAULTS["admission"])
    expect(items).to_have_value("8")


def test_back_and_forward_of_the_browser(visit: Open) -> None:
    page = visit("index.html")
    growth, one = SceneOnPage(page, "growth"), SceneOnPage(page, "one-traveller")
    growth.control("more").click()
    growth.shows(state="step=3")
    one.control("more").click()
    one.shows(state="items=9")
    growth.control("more").click()
    growth.shows(state="step=4")
    for steps, items in ((3, 9), (3, 8), (2, 8)):
        page.go_back()
        growth.shows(state=f"step={steps}")
        one.shows(state=f"items={items}")
    for steps, items in ((3, 8), (3, 9), (4, 9)):
        page.go_forward()
        growth.shows(state=f"step={steps}")
        one.shows(state=f"items={items}")
    page.go_back()
    growth.control("less").click()  # another way from here
    growth.shows(state="step=2")
    one.shows(state="items=9")
    page.go_back()
    growth.shows(state="step=3")


def test_the_way_back_of_a_scene_is_that_of_the_entry(visit: Open) -> None:
    page = visit("index.html")
    growth = SceneOnPage(page, "growth")
    back = growth.control("back")
    growth.control("more").click()
    growth.shows(state="step=3")
    page.locator("nav a[href='#reserve']").click()  # an entry that no action has made
    growth.control("more").click()
    growth.shows(state="step=4")
    page.go_back()
    growth.shows(state="step=3")
    back.click()
    growth.shows(state="step=2")
    expect(back).to_have_attribute("aria-disabled", "true")
    for state in ("step=3", "step=3", "step=2"):
        page.go_back()
        growth.shows(state=state)
    expect(back).to_have_attribute("aria-disabled", "true")
    page.go_forward()
    growth.shows(state="step=3")
    expect(back).not_to_have_attribute("aria-disabled", "true")


def test_very_many_actions_end_at_the_right_address(visit: Open) -> None:
    page = visit("index.html")
    growth = SceneOnPage(page, "growth")
    page.evaluate(
        """() => { for (let n = 0; n < 90; n += 1) for (const what of ["more", "less", "less"])
        document.getElementById(`growth-${what}`).click(); }"""
    )
    growth.shows(state="step=0")
    until(lambda: page.url, lambda url: "growth.step=0" in url, page)
    assert "growth.step=0" in page.url
    growth.control("more").click()
    growth.shows(state="step=1")
    until(lambda: page.url, lambda url: "growth.step=1" in url, page)
    assert "growth.step=1" in page.url


def test_a_drag_is_one_entry_and_one_step_back(visit: Open) -> None:
    page = visit("index.html")
    one = SceneOnPage(page, "one-traveller")
    slider = one.control("items")
    slider.scroll_into_view_if_needed()
    entries = page.evaluate("history.length")
    box = slider.bounding_box()
    assert box is not None

    def at(items: int) -> float:
        return float(box["x"] + 8 + (box["width"] - 16) * (items - 1) / 11)

    middle = box["y"] + box["height"] / 2
    page.mouse.move(at(8), middle)
    page.mouse.down()
    for items in (9, 10, 11, 12, 11):
        page.mouse.move(at(items), middle)
        one.shows(state=f"items={items}", paged__free=12 - items)
    until(lambda: page.url, lambda url: "one-traveller.items=11" in url, page)
    assert "one-traveller.items=11" in page.url  # it says so while dragging
    assert page.evaluate("history.length") == entries
    page.mouse.up()
    until(lambda: page.evaluate("history.length"), lambda length: length > entries, page)
    assert page.evaluate("history.length") == entries + 1
    one.control("more").click()
    one.shows(state="items=12")
    for items in (11, 8):
        one.control("back").click()
        one.shows(state=f"items={items}")
    expect(one.control("back")).to_have_attribute("aria-disabled", "true")
    for items in (11, 12, 11, 8):  # the steps back were entries too
        page.go_back()
        one.shows(state=f"items={items}")


STEPS = {
    "growth": ["more", "more", "less"],
    "one-traveller": ["more", "guess-0", "more"],
    "admission": ["six", "order-skip", "preset-full"],
    "block-table": ["append", "leave", "page-2"],
    "batching": ["previous", "shuffle", "more-0"],
    "engine-map": ["next", "next", "previous"],
    "quiz": ["q1-A", "q1-B", "again"],
}


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_can_be_stepped_back_to_its_beginning(visit: Open, name: str) -> None:
    page = visit(f"embed/{name}.html")
    scene = SceneOnPage(page, name)
    back = scene.control("back")
    expect(back).to_have_attribute("aria-disabled", "true")
    states = [scene.read()]
    for control in STEPS[name]:
        scene.control(control).evaluate("one => one.click()")
        states.append(until(scene.read, lambda now: now.state != states[-1].state, page))
        expect(back).not_to_have_attribute("aria-disabled", "true")
    assert len({state.state for state in states}) > 2
    back.focus()
    for before in reversed(states[:-1]):
        page.keyboard.press("Enter")
        seen = scene.shows(state=before.state)
        assert seen.figures == before.figures
        expect(back).to_be_focused()
    expect(back).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")  # there is nothing before it
    scene.shows(state=DEFAULTS[name])


def test_a_copied_link_leads_to_the_same_state(visit: Open) -> None:
    page = visit("index.html?growth.step=4")
    admission = SceneOnPage(page, "admission")
    admission.control("preset-queue").check()
    admission.control("order-skip").check()
    before = admission.shows(paged__admitted=7)
    admission.control("link").click()
    said = until(admission.read, lambda now: now.said != before.said, page).said
    assert said != before.said  # it says that the link is copied
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith("#admission")
    other = visit(link)
    assert SceneOnPage(other, "admission").shows(state=before.state).figures == before.figures
    SceneOnPage(other, "growth").shows(state="step=4")


def test_a_copied_link_of_an_embed(visit: Open) -> None:
    page = visit("embed/block-table.html?theme=dark")
    table = SceneOnPage(page, "block-table")
    table.control("leave").click()
    before = table.shows(free=7)
    table.control("link").click()
    until(table.read, lambda now: now.said != before.said, page)
    link = page.evaluate("navigator.clipboard.readText()")
    assert "b=" in urlsplit(link).query.split("&")
    SceneOnPage(visit(link), "block-table").shows(state=before.state)
