"""Every scene by mouse, by finger and by keyboard alone, with figures that were worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.hands import Hand, Keyboard
from tests.browser.reading import SceneOnPage, until

Fresh = Callable[[str], SceneOnPage]


def keepers(reserved: tuple[int, ...], paged: tuple[int, ...]) -> dict[str, int]:
    """Name the figures of both keepers: admitted, used, empty, free, waiting."""
    names = ("admitted", "used", "empty", "free", "waiting")
    pairs = zip(("reserved", "paged"), (reserved, paged), strict=True)
    return {f"{keeper}__{n}": v for keeper, values in pairs for n, v in zip(names, values, strict=True)}


# growth: 3, 5, 8, 10, 12 items, and what the old keeper keeps empty

GROWTH = [(0, 3, 3, "4", 9), (1, 5, 2, "6", 7), (2, 8, 3, "9", 4), (3, 10, 2, "11", 2), (4, 12, 2, "", 0)]


def growing(step: int) -> dict[str, Any]:
    """Name the figures of a step."""
    _, items, added, following, empty = GROWTH[step]
    return {
        "state": f"step={step}",
        "items": items,
        "added": added,
        "next_locker": following,
        "reserved__empty": empty,
    }


def test_growth_goes_by_its_steps_and_ends_at_the_limit(hand: Hand, scene: Fresh) -> None:
    growth = scene("growth")
    growth.shows(**growing(2))
    for step in (3, 4):
        hand.press("growth-more")
        growth.shows(**growing(step))
    hand.press("growth-more")  # there is nothing further
    growth.shows(**growing(4))
    for step in (3, 2, 1, 0):
        hand.press("growth-less")
        growth.shows(**growing(step))
    hand.press("growth-less")
    growth.shows(**growing(0))
    hand.slide("growth-step", 4)
    growth.shows(**growing(4))
    hand.press("growth-back")
    growth.shows(**growing(3 if hand.in_steps else 0))


def test_growth_never_moves_what_is_there(desk: Page) -> None:
    growth = SceneOnPage(desk, "growth")
    growth.reset()
    rows = growth.part(".grow-row").evaluate_all(
        "rows => rows.map((row) => [...row.querySelectorAll('.locker')].map((one) => !one.matches('.free')))"
    )
    assert [sum(row) for row in rows] == [3, 5, 8, 10, 12]
    assert all(row == sorted(row, reverse=True) for row in rows)  # without gaps, from the first locker


# one-traveller


@pytest.mark.parametrize("items", [1, 8, 12])
def test_one_traveller_under_both_keepers(hand: Hand, scene: Fresh, items: int) -> None:
    one = scene("one-traveller")
    hand.slide("one-traveller-items", items)
    one.shows(
        state=f"items={items}",
        reserved__used=items,
        reserved__empty=12 - items,
        paged__used=items,
        paged__free=12 - items,
    )


def test_one_traveller_stops_at_both_ends(hand: Hand, scene: Fresh) -> None:
    one = scene("one-traveller")
    hand.slide("one-traveller-items", 11)
    for _ in range(2):
        hand.press("one-traveller-more")
        one.shows(state="items=12", reserved__empty=0, paged__free=0)
    hand.slide("one-traveller-items", 2)
    for _ in range(2):
        hand.press("one-traveller-less")
        one.shows(state="items=1", reserved__empty=11, paged__free=11)
    hand.press("one-traveller-back")
    one.shows(state="items=2")


def test_a_key_held_down_moves_a_slider_by_every_press(desk: Page) -> None:
    one = SceneOnPage(desk, "one-traveller")
    one.reset()
    one.control("items").focus()
    desk.evaluate(  # changes faster than answers come
        """async () => { const slider = document.activeElement;
        for (let n = 0; n < 11; n += 1) {
          slider.stepUp(n < 8 ? 1 : -1);
          for (const type of ["input", "change"]) slider.dispatchEvent(new Event(type, { bubbles: true }));
          await new Promise((go) => setTimeout(go, 3));
        } }"""
    )
    one.shows(state="items=9")
    expect(one.control("items")).to_have_value("9")
    one.control("back").click()
    one.shows(state="items=10")


GUESSED = {
    "one-traveller": lambda figures: int(figures["reserved.empty"]),
    "admission": lambda figures: int(figures["paged.admitted"]),
    "batching": lambda figures: int(figures["static.rounds"]) - int(figures["continuous.rounds"]),
}


@pytest.mark.parametrize("name", GUESSED)
def test_the_box_of_a_guess_tells_what_the_scene_shows(desk: Page, name: str) -> None:
    one = SceneOnPage(desk, name)
    one.reset()
    for button in one.part(".guess button").all():
        guess = button.get_attribute("value") or ""
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        computed = GUESSED[name](one.read().figures)
        told = one.control("guess-told").inner_text()
        assert f"算出來是 {computed} " in told
        assert told.startswith("猜對了" if int(guess) == computed else f"不是 {guess} ")
    one.control("reset").click()
    expect(one.control("guess-told")).to_have_count(0)


def test_one_traveller_answers_a_guess(hand: Hand, scene: Fresh) -> None:
    one = scene("one-traveller")
    hand.press("one-traveller-guess-0")
    assert "11" in one.shows(state="items=1", reserved__empty=11).said
    hand.press("one-traveller-guess-11")
    right = until(
        one.read, lambda seen: one.control("guess-11").get_attribute("aria-pressed") == "true", hand.page
    )
    assert right.state == "items=1"


# admission

EVENINGS = {
    "friday": ("8,5,10,3,7,6", 39, keepers((5, 33, 27, 0, 1), (6, 39, 0, 21, 0))),
    "light": ("2,1,3,1,2,2", 11, keepers((5, 9, 51, 0, 1), (6, 11, 0, 49, 0))),
    "exact": ("10,10,10,10,10,10", 60, keepers((5, 50, 10, 0, 1), (6, 60, 0, 0, 0))),
    "over": ("12,11,12,10,11,9", 65, keepers((5, 56, 4, 0, 1), (5, 56, 0, 4, 1))),
    "full": ("12,12,12,12,12,12", 72, keepers((5, 60, 0, 0, 1), (5, 60, 0, 0, 1))),
    "queue": ("12,11,12,10,11,9,3,1,4", 73, keepers((5, 56, 4, 0, 4), (5, 56, 0, 4, 4))),
}


def test_admission_on_every_evening(hand: Hand, scene: Fresh) -> None:
    admission = scene("admission")
    for name in ("light", "exact", "over", "full", "queue", "friday"):
        luggage, total, figures = EVENINGS[name]
        hand.choose(f"admission-preset-{name}")
        admission.shows(state=f"luggage={luggage}&order=fcfs", total=total, **figures)
    hand.press("admission-back")
    admission.shows(total=73)


def test_admission_has_no_evening_that_is_not_checked_here(desk: Page) -> None:
    values = desk.locator("input[name=admission-preset]").evaluate_all("all => all.map((one) => one.value)")
    assert sorted(values) == sorted(EVENINGS)


def test_admission_says_why_somebody_waits(hand: Hand, scene: Fresh) -> None:
    admission = scene("admission")
    hand.choose("admission-preset-over")
    admission.shows(total=65)
    assert re.search(r"F.* 9 .* 4 ", admission.control("paged-queue").inner_text())
    assert re.search(r"F.* 12 .* 0 ", admission.control("reserved-queue").inner_text())
    hand.choose("admission-preset-queue")
    admission.shows(total=73)
    whys = [one.text_content() or "" for one in admission.control("paged-queue").locator("li").all()]
    assert [re.sub(r"[^A-Z0-9 ]+", "", why).split()[:2] for why in whys] == [
        ["G", "3"],
        ["H", "1"],
        ["I", "F"],
    ] or [why.strip()[0] for why in whys] == ["G", "H", "I"]
    assert re.search(r"H.* 1 .*F", whys[1])  # would fit, but F comes first


def test_admission_six_more_and_who_may_go_first(hand: Hand, scene: Fresh) -> None:
    admission = scene("admission")
    hand.press("admission-six")
    admission.shows(total=78, **keepers((5, 33, 27, 0, 7), (8, 52, 0, 8, 4)))
    hand.choose("admission-preset-light")
    admission.shows(total=11)
    for count in range(2, 7):
        hand.press("admission-six")
        admission.shows(total=11 * count)
    most = admission.shows(total=66, **keepers((5, 9, 51, 0, 31), (32, 58, 0, 2, 4)))
    hand.press("admission-six")  # 36 are there: no more come
    after = until(admission.read, lambda seen: seen.said != most.said, hand.page)
    assert (after.state, after.said != most.said) == (most.state, True)
    hand.choose("admission-order-skip")
    admission.shows(**keepers((5, 9, 51, 0, 31), (33, 59, 0, 1, 3)))
    hand.press("admission-back")
    admission.shows(paged__admitted=32)
    hand.press("admission-fewer")
    admission.shows(total=55, **keepers((5, 9, 51, 0, 25), (30, 55, 0, 5, 0)))


def test_admission_lets_those_go_first_who_fit(hand: Hand, scene: Fresh) -> None:
    admission = scene("admission")
    hand.choose("admission-preset-queue")
    admission.shows(total=73)
    hand.choose("admission-order-skip")
    admission.shows(
        state="luggage=12,11,12,10,11,9,3,1,4&order=skip", **keepers((5, 56, 4, 0, 4), (7, 60, 0, 0, 2))
    )


def test_admission_steppers_stop_at_both_ends(hand: Hand, scene: Fresh) -> None:
    admission = scene("admission")
    for want in (2, 1, 1):
        hand.press("admission-less-3")
        admission.shows(state=f"luggage=8,5,10,{want},7,6&order=fcfs", total=36 + want)
    for want in (11, 12, 12):
        hand.press("admission-more-2")
        admission.shows(state=f"luggage=8,5,{want},1,7,6&order=fcfs", total=27 + want)
    hand.press("admission-reset")
    admission.shows(total=39)


@pytest.mark.parametrize(("written", "taken"), [("12", 12), ("1", 1), ("40", 12), ("0", 1), ("-3", 1)])
def test_admission_takes_a_written_number(hand: Hand, scene: Fresh, written: str, taken: int) -> None:
    admission = scene("admission")
    hand.write("admission-items-0", written)
    seen = admission.shows(state=f"luggage={taken},5,10,3,7,6&order=fcfs", total=31 + taken)
    expect(admission.control("items-0")).to_have_value(str(taken))
    told = f"「{written}」不是 1 到 12 的整數，改用 {taken}。"
    assert (told in seen.said) == (written != str(taken))


@pytest.mark.parametrize("typed", ["", "e", "8e", "-", "+-"])
def test_a_field_without_a_number_gets_its_number_back(desk: Page, typed: str) -> None:
    admission = SceneOnPage(desk, "admission")
    admission.reset()
    before = admission.read()
    field = admission.control("items-0")
    field.click()
    desk.keyboard.press("ControlOrMeta+a")
    desk.keyboard.press("Delete")
    desk.keyboard.type(typed)
    field.press("Tab")
    seen = until(admission.read, lambda now: now.said != before.said, desk)
    assert seen.state == before.state
    assert seen.said.startswith("沒有讀到數字，要填 1 到 12 的整數，什麼都沒有變。")
    expect(field).to_have_value("8")
    assert field.evaluate("one => one.validity.valid")


def test_a_number_too_large_twice_is_told_and_corrected_twice(desk: Page) -> None:
    admission = SceneOnPage(desk, "admission")
    admission.reset()
    field = admission.control("items-0")
    for typed in ("99", "77"):
        field.fill(typed)
        field.press("Enter")
        until(admission.read, lambda now, typed=typed: f"「{typed}」" in now.said, desk)  # type: ignore[misc]
        assert f"「{typed}」不是 1 到 12 的整數，改用 12。" in admission.read().said
        expect(field).to_have_value("12")


def test_a_field_being_written_is_left_alone(desk: Page) -> None:
    admission = SceneOnPage(desk, "admission")
    admission.reset()
    field = admission.control("items-1")
    field.click()
    desk.keyboard.press("ControlOrMeta+a")
    desk.keyboard.type("1")
    desk.evaluate("document.getElementById('admission-six').click()")  # an answer comes in the middle
    admission.shows(total=78)
    expect(field).to_be_focused()
    expect(field).to_have_value("1")
    desk.keyboard.type("1")
    desk.keyboard.press("Tab")
    admission.shows(total=84)
    expect(admission.control("more-1")).to_be_focused()


# block-table


def test_block_table_finds_every_page(hand: Hand, scene: Fresh) -> None:
    table = scene("block-table")
    table.shows(a__pages=5, free=4)
    for page, locker in enumerate((7, 11, 1, 14, 4), 1):
        hand.press(f"block-table-page-{page}")
        seen = table.shows(state=f"a=7,11,1,14,4&b=2,3,9&c=5,10,12,13&page={page}")
        assert seen.figures[f"a.page.{page}"] == str(locker)
        expect(table.part("td[aria-selected=true]")).to_have_id(f"block-table-cell-{locker}")
        expect(table.part("[aria-current=true]")).to_have_id(f"block-table-page-{page}")
        assert re.search(rf" {page} .* {locker} ", seen.said)


def test_block_table_says_whose_a_locker_is(hand: Hand, scene: Fresh) -> None:
    table = scene("block-table")
    hand.press("block-table-door-14")  # A's own
    table.shows(state="a=7,11,1,14,4&b=2,3,9&c=5,10,12,13&page=4")
    for locker, whose in ((9, "B.* 3 "), (13, "C.* 4 "), (8, "8 ")):
        before = table.read()
        hand.press(f"block-table-door-{locker}")
        seen = until(table.read, lambda now, said=before.said: now.said != said, hand.page)  # type: ignore[misc]
        assert re.search(rf"^{locker} .*{whose}" if whose != "8 " else r"^8 ", seen.said)
        assert seen.state == before.state
    assert "B" not in seen.said
    assert "C" not in seen.said


def test_block_table_appends_until_no_locker_is_free(hand: Hand, scene: Fresh) -> None:
    table = scene("block-table")
    rows = ["7", "11", "1", "14", "4"]
    free = {"6", "8", "15", "16"}
    for count in range(1, 5):
        hand.press("block-table-append")
        seen = table.shows(a__pages=5 + count, free=4 - count)
        now = [seen.figures[f"a.page.{page}"] for page in range(1, 6 + count)]
        assert now[:-1] == rows  # no earlier row has changed
        assert now[-1] in free
        free.remove(now[-1])
        rows = now
        assert f"page={5 + count}" in seen.state
    hand.press("block-table-append")
    full = until(table.read, lambda now: now.said != seen.said, hand.page)
    assert (full.state, full.figures["free"]) == (seen.state, "0")
    assert full.said != seen.said  # it is said that there is none
    hand.press("block-table-leave")
    after = table.shows(free=3)
    assert [after.figures[f"a.page.{page}"] for page in range(1, 10)] == rows
    hand.press("block-table-append")
    assert table.shows(a__pages=10, free=2).figures["a.page.10"] in {"2", "3", "9"}
    hand.press("block-table-back")
    table.shows(a__pages=9, free=3)


def test_block_table_b_leaves_and_a_keeps_its_table(hand: Hand, scene: Fresh) -> None:
    table = scene("block-table")
    before = table.read()
    hand.press("block-table-leave")
    after = table.shows(state="a=7,11,1,14,4&b=&c=5,10,12,13&page=3", free=7)
    assert {**after.figures, "free": "4"} == before.figures
    for locker in (2, 3, 9):
        expect(table.control(f"cell-{locker}")).to_have_class(re.compile(r"\bfree\b"))
    hand.press("block-table-scatter")
    moved = until(table.read, lambda now: now.state != after.state, hand.page)
    lockers = [moved.figures[f"a.page.{page}"] for page in range(1, 6)]
    assert len(set(lockers)) == 5
    assert not {"5", "10", "12", "13"} & set(lockers)
    assert moved.figures["free"] == "7"


def test_the_grid_has_one_tab_stop_and_arrows_over_all_cells(desk: Page) -> None:
    table = SceneOnPage(desk, "block-table")
    table.reset()
    keys = Keyboard(desk)
    focused = "document.activeElement.value"
    keys.walk("block-table-door-1")
    met = []
    for row in range(4):
        met.append(desk.evaluate(focused))
        for _ in range(3):
            desk.keyboard.press("ArrowRight")
            met.append(desk.evaluate(focused))
        desk.keyboard.press("ArrowRight")  # a row ends here
        assert desk.evaluate(focused) == met[-1]
        desk.keyboard.press("Home")
        if row < 3:
            desk.keyboard.press("ArrowDown")
    assert met == [str(number) for number in range(1, 17)]
    expect(table.part("[data-cell][tabindex='0']")).to_have_count(1)
    moves = "ArrowUp 9 End 12 Control+Home 1 Control+End 16 ArrowDown 16 ArrowLeft 15 Home 13 ArrowLeft 13"
    moves += " Control+Home 1 ArrowUp 1 ArrowLeft 1"
    for key, want in zip(moves.split()[::2], moves.split()[1::2], strict=True):
        desk.keyboard.press(key)
        assert desk.evaluate(focused) == want, key
    desk.keyboard.press("ArrowRight")
    desk.keyboard.press("Enter")
    until(table.read, lambda now: now.said.startswith("2 "), desk)
    assert desk.evaluate(focused) == "2"
    expect(table.part("[data-cell][tabindex='0']")).to_have_id("block-table-door-2")
    desk.keyboard.press("Tab")
    expect(table.control("append")).to_be_focused()
    desk.keyboard.press("Shift+Tab")
    assert desk.evaluate(focused) == "2"


# batching

LESSON = {
    "static__rounds": 8, "static__slots": 24, "static__idle": 8, "static__mean_finish": "5.67",
    "static__mean_return": "7.00", "continuous__rounds": 6, "continuous__slots": 18, "continuous__idle": 2,
    "continuous__mean_finish": "4.17",
}  # fmt: skip
LATE = {
    "static__rounds": 9, "static__slots": 27, "static__idle": 11, "static__mean_finish": "4.17",
    "static__mean_return": "6.00", "continuous__rounds": 9, "continuous__slots": 27, "continuous__idle": 11,
    "continuous__mean_finish": "3.83",
}  # fmt: skip
EVEN = {
    "static__rounds": 6, "static__slots": 18, "static__idle": 0, "static__mean_finish": "4.50",
    "static__mean_return": "4.50", "continuous__rounds": 6, "continuous__slots": 18, "continuous__idle": 0,
    "continuous__mean_finish": "4.50",
}  # fmt: skip


def test_batching_in_every_order(hand: Hand, scene: Fresh) -> None:
    batching = scene("batching")
    batching.shows(**LESSON)
    hand.choose("batching-preset-late")
    batching.shows(state="needs=2,3,2,1,2,6&windows=3&round=9", **LATE)
    hand.choose("batching-preset-even")
    batching.shows(state="needs=3,3,3,3,3,3&windows=3&round=6", **EVEN)
    hand.choose("batching-preset-lesson")
    batching.shows(state="needs=6,2,3,2,1,2&windows=3&round=8", **LESSON)
    hand.press("batching-shuffle")
    seen = until(batching.read, lambda now: "needs=6,2,3,2,1,2&" not in now.state, hand.page)
    needs = seen.state.removeprefix("needs=").split("&")[0].split(",")
    assert sorted(needs) == ["1", "2", "2", "2", "3", "6"]
    for rule in ("static", "continuous"):
        figures = {name: float(seen.figures[f"{rule}.{name}"]) for name in ("rounds", "slots", "idle")}
        assert figures["slots"] == figures["rounds"] * 3
        assert figures["idle"] == figures["slots"] - 16
    hand.press("batching-back")
    batching.shows(**LESSON)


def test_batching_by_rounds(hand: Hand, scene: Fresh) -> None:
    batching = scene("batching")
    needs = "needs=6,2,3,2,1,2&windows=3&round="
    hand.press("batching-next")  # there is no ninth
    batching.shows(state=f"{needs}8")
    hand.press("batching-previous")
    batching.shows(state=f"{needs}7", **LESSON)  # the figures are of the whole run
    hand.slide("batching-round", 0)
    batching.shows(state=f"{needs}0", **LESSON)
    hand.press("batching-previous")
    batching.shows(state=f"{needs}0")
    hand.press("batching-next")
    batching.shows(state=f"{needs}1")
    hand.press("batching-back")
    batching.shows(state=f"{needs}0")


def test_batching_with_other_travellers_and_windows(hand: Hand, scene: Fresh) -> None:
    batching = scene("batching")
    hand.pick("batching-windows", "6")  # all at once: nobody waits, either way
    batching.shows(
        static__rounds=6, static__slots=36, static__idle=20, continuous__rounds=6, continuous__idle=20
    )
    hand.pick("batching-windows", "1")  # one after the other
    batching.shows(static__rounds=16, static__idle=0, continuous__rounds=16, continuous__idle=0)
    hand.pick("batching-windows", "3")
    batching.shows(**LESSON)
    hand.press("batching-more-1")
    batching.shows(state="needs=6,3,3,2,1,2&windows=3&round=8", static__idle=7, static__rounds=8)
    hand.write("batching-needs-1", "99")
    batching.shows(state="needs=6,12,3,2,1,2&windows=3&round=14", static__rounds=14)
    hand.press("batching-drop")
    batching.shows(state="needs=6,12,3,2,1&windows=3&round=14", static__slots=42)
    hand.press("batching-add")
    assert until(batching.read, lambda now: "2,1,2&" in now.state, hand.page).state.startswith(
        "needs=6,12,3,2,1,2&"
    )


def test_batching_plays_pauses_and_steps(hand: Hand, scene: Fresh) -> None:
    batching = scene("batching")
    play = batching.control("play")
    hand.slide("batching-round", 0)
    batching.shows(state="needs=6,2,3,2,1,2&windows=3&round=0")
    play.evaluate("one => { one.dataset.pace = '150'; }")
    hand.press("batching-play")
    seen = until(batching.read, lambda now: now.state.endswith(("=2", "=3")), hand.page)
    expect(play).to_have_attribute("aria-pressed", "true")
    hand.press("batching-play")
    expect(play).to_have_attribute("aria-pressed", "false")
    hand.page.wait_for_timeout(100)  # an answer that was under way
    paused = batching.read()
    hand.page.wait_for_timeout(500)
    assert batching.read().state == paused.state
    now = int(paused.state[-1])
    assert int(seen.state[-1]) <= now < 8
    hand.press("batching-next")
    batching.shows(state=f"needs=6,2,3,2,1,2&windows=3&round={now + 1}")
    hand.press("batching-previous")
    batching.shows(state=f"needs=6,2,3,2,1,2&windows=3&round={now}")


@pytest.mark.parametrize(("name", "last"), [("batching", "round=8"), ("engine-map", None)])
def test_playing_ends_by_itself_and_begins_anew(desk: Page, name: str, last: str | None) -> None:
    scene = SceneOnPage(desk, name)
    scene.reset()
    play, slider = scene.control("play"), scene.control("round")
    end = slider.get_attribute("max")
    last = last or f"round={end}"
    for start in ("3", end):  # from the middle, and from the end, where it begins at the beginning
        slider.evaluate(
            "(one, to) => { one.value = to; one.dispatchEvent(new Event('change', {bubbles: true})); }", start
        )
        until(scene.read, lambda now, to=start: now.state.endswith(f"round={to}"), desk)  # type: ignore[misc]
        rounds = desk.evaluate_handle(
            """name => { const met = []; addEventListener("lesson:change",
            ({ detail }) => detail.scene === name && met.push(Number(detail.state.split("round=")[1])));
            return met; }""",
            name,
        )
        pressed = play.evaluate_handle(
            """one => { const seen = []; one.dataset.pace = "1";
            new MutationObserver(() => seen.push(one.getAttribute("aria-pressed"))).observe(one,
                { attributeFilter: ["aria-pressed"] });
            return seen; }"""
        )
        play.click()
        assert until(pressed.json_value, lambda seen: seen[-1:] == ["false"], desk) == ["true", "false"]
        assert scene.read().state.endswith(last)
        met = rounds.json_value()
        first = int(start or 0) + 1 if start != end else 0
        assert sorted(set(met)) == list(range(first, int(end or 0) + 1))


@pytest.mark.parametrize("name", ["batching", "engine-map"])
def test_playing_is_as_fast_as_the_reader_wants(hand: Hand, scene: Fresh, name: str) -> None:
    one, took = scene(name), {}
    hand.slide(f"{name}-round", 0)
    until(one.read, lambda now: now.state.endswith("round=0"), hand.page)
    for speed in ("2", "0.4"):
        hand.pick(f"{name}-speed", speed)
        one.control("play").evaluate("one => { one.dataset.pace = '300'; }")
        times = hand.page.evaluate_handle(
            """() => { const met = [];
            addEventListener("lesson:change", () => met.push(performance.now()));
            return met; }"""
        )
        hand.press(f"{name}-play")
        met = until(times.json_value, lambda met: len(met) > 3, hand.page)
        hand.press(f"{name}-play")
        took[speed] = met[3] - met[0]
        expect(one.control("speed")).to_have_value(speed)  # whatever has been answered meanwhile
        expect(one.control("play")).to_have_attribute("aria-pressed", "false")
    assert took["2"] > 2 * took["0.4"]
    hand.pick(f"{name}-speed", "1")


def test_what_plays_fast_is_read_out_when_it_rests(desk: Page) -> None:
    scene = SceneOnPage(desk, "batching")
    scene.reset()
    status = scene.root.get_by_role("status")
    told = status.evaluate_handle(
        """one => { const told = [];
        new MutationObserver(() => { if (!one.hasAttribute("aria-busy")) told.push(one.textContent.trim()); })
            .observe(one, { attributes: true, childList: true, characterData: true, subtree: true });
        return told; }"""
    )
    play = scene.control("play")
    play.evaluate("one => { one.dataset.pace = '1'; }")
    play.click()
    until(told.json_value, bool, desk)
    assert told.json_value() == [(status.text_content() or "").strip()]


EARLIER = [("1,3,2,2,6,2", "E", 6, 9, 8), ("3,1,2,6,2,2", "D", 6, 9, 7)]
"""Orders in which the longest comes in the second group: who, how long, when it is done under either rule."""


@pytest.mark.parametrize(("needs", "who", "need", "late", "early"), EARLIER)
def test_batching_tells_that_the_longest_got_its_turn_earlier(
    visit: Open, needs: str, who: str, need: int, late: int, early: int
) -> None:
    page = visit(f"embed/batching.html?needs={needs}")
    said = SceneOnPage(page, "batching").read().said
    assert said.endswith(f"{who} 要辦的還是 {need} 輪，只是輪到得早，從第 {late} 輪提早到第 {early} 輪辦完。")
    for rule, last in (("static", late), ("continuous", early)):
        cells = page.locator(f"#batching-{rule} td.done", has_text=who)
        expect(cells).to_have_count(1)
        assert (cells.get_attribute("id") or "").endswith(f"-{last}")


def test_everybody_in_the_small_vllm_keeps_a_window(visit: Open) -> None:
    page = visit("embed/engine-map.html?round=0")
    scene = SceneOnPage(page, "engine-map")
    seats: dict[str, set[str]] = {}
    last = int(scene.control("round").get_attribute("max") or 0)
    for number in range(1, last + 1):
        scene.control("next").click()
        running = int(scene.shows(state=f"round={number}").figures["running"])
        taken = page.locator("#engine-map .win:not(.empty)").evaluate_all(
            "all => all.map((one) => [one.querySelector('b').textContent, one.id])"
        )
        assert len(taken) == running
        for who, window in taken:
            seats.setdefault(who, set()).add(window)
        empty = page.locator("#engine-map .win.empty").count()
        wasted = empty if scene.read().figures["waiting"] != "0" else 0
        assert page.locator("#engine-map .win.waste").count() == wasted
    assert sorted(seats) == list("ABCDEFGH")
    assert {len(windows) for windows in seats.values()} == {1}


def test_batching_answers_a_guess(hand: Hand, scene: Fresh) -> None:
    batching = scene("batching")
    hand.choose("batching-preset-even")
    batching.shows(**EVEN)
    for guess in (2, 0):
        hand.press(f"batching-guess-{guess}")
        told = batching.control("guess-told")
        until(batching.read, lambda now, g=guess: now.said.startswith(f"你猜省 {g} 輪"), hand.page)  # type: ignore[misc]
        batching.shows(state="needs=2,3,2,1,2,6&windows=3&round=9", static__rounds=9, continuous__rounds=9)
        expect(told).to_be_in_viewport()
        assert ("猜對了" in told.inner_text()) == (guess == 0)


def test_the_table_of_rounds_is_the_lessons(desk: Page) -> None:
    batching = SceneOnPage(desk, "batching")
    batching.reset()
    rows = (
        batching.control("log")
        .locator("tbody tr")
        .evaluate_all(
            "rows => rows.map(({cells}) => [...cells].map((c) => c.textContent.replace(/[^A-Z\\d]/g, ' ')))",
        )
    )
    held = [[row[0].strip(), re.findall("[A-Z]", row[1]), re.findall("[A-Z]", row[3])] for row in rows]
    assert held == [
        ["1", ["A", "B", "C"], ["A", "B", "C"]],
        ["2", ["A", "B", "C"], ["A", "B", "C"]],
        ["3", ["A", "C"], ["A", "D", "C"]],
        ["4", ["A"], ["A", "D", "E"]],
        ["5", ["A"], ["A", "F"]],
        ["6", ["A"], ["A", "F"]],
        ["7", ["D", "E", "F"], []],
        ["8", ["D", "F"], []],
    ]
    assert [re.findall("[A-Z]", row[5]) for row in rows] == [
        [],
        ["B"],
        ["C"],
        ["D", "E"],
        [],
        ["A", "F"],
        [],
        [],
    ]
    assert [row[4].split() for row in rows] == [[], [], ["D", "2"], ["E", "3"], ["F", "2"], [], [], []]


def test_the_drawn_rounds_are_the_lessons(desk: Page) -> None:
    batching = SceneOnPage(desk, "batching")
    batching.reset()
    for rule, want in {
        "static": ["AAAAAADD", "BB....E.", "CCC...FF"],
        "continuous": ["AAAAAA", "BBDDFF", "CCCE.."],
    }.items():
        drawn = (
            batching.control(rule)
            .locator("tbody tr")
            .evaluate_all(
                """rows => rows.map((row) => [...row.querySelectorAll("td")]
            .map((cell) => cell.matches(".busy") ? cell.textContent.trim() : cell.matches(".idle") ? "." : "")
            .join(""))"""
            )
        )
        assert drawn == want


# engine-map


def test_engine_map_round_by_round_to_the_end(hand: Hand, scene: Fresh) -> None:
    engine = scene("engine-map")
    last = int(engine.control("round").get_attribute("max") or "")
    hand.slide("engine-map-round", 0)
    engine.shows(state="round=0", running=0, waiting=0, blocks__used=0, blocks__free=60, tokens=0)
    tokens = 0
    for now in range(1, last + 1):
        hand.press("engine-map-next")
        figures = {name: int(text) for name, text in engine.shows(state=f"round={now}").figures.items()}
        assert figures["blocks.used"] + figures["blocks.free"] == 60
        assert figures["running"] <= 3
        assert figures["tokens"] == tokens + figures["running"]  # one token each
        tokens = figures["tokens"]
    hand.press("engine-map-next")
    answers = engine.control("log").locator("table").first.locator("td:last-child").all_text_contents()
    engine.shows(state=f"round={last}", waiting=0, tokens=sum(map(int, answers)))
    hand.press("engine-map-previous")
    engine.shows(state=f"round={last - 1}")
    hand.press("engine-map-back")
    engine.shows(state=f"round={last}")


def test_engine_map_draws_what_it_says(desk: Page) -> None:
    engine = SceneOnPage(desk, "engine-map")
    engine.reset()
    seen = engine.read()
    expect(engine.part(".wall .locker.used")).to_have_count(int(seen.figures["blocks.used"]))
    expect(engine.part(".wall .locker.free")).to_have_count(int(seen.figures["blocks.free"]))
    expect(engine.part(".win:not(.empty)")).to_have_count(int(seen.figures["running"]))


# quiz

RIGHT = {"q1": "B", "q2": "B", "q3": "B", "q4": "C"}
FIGURES = {
    ("q1", "A"): ["72", "60"], ("q1", "B"): ["5", "60"],
    ("q1", "C"): ["60", "0", "12、11、12、10、11、9", "4", "F", "9"],
    ("q2", "A"): ["6"], ("q2", "B"): ["8", "2"], ("q2", "C"): ["8"], ("q2", "D"): ["7.00", "30.42"],
    ("q3", "D"): ["16", "15"],
}  # fmt: skip


def test_quiz_counts_right_answers(hand: Hand, scene: Fresh) -> None:
    quiz = scene("quiz")
    wrong = {"q1": "C", "q2": "A", "q3": "D", "q4": "A"}
    for name, option in wrong.items():
        hand.choose(f"quiz-{name}-{option}")
        expect(quiz.control(f"{name}-{option}-why")).to_be_visible()
        quiz.shows(score=0)
    for score, (name, option) in enumerate(RIGHT.items(), 1):
        hand.choose(f"quiz-{name}-{option}")
        quiz.shows(score=score)
        expect(quiz.control(f"{name}-{option}-why")).to_be_visible()
        expect(quiz.control(name).locator(".why")).to_have_count(1)
    assert quiz.read().state == "q1=B&q2=B&q3=B&q4=C&seed=1"
    hand.press("quiz-back")
    until(quiz.read, lambda now: now.figures["score"] != "4", hand.page)
    hand.press("quiz-again")
    quiz.shows(state="q1=&q2=&q3=&q4=&seed=2", score=0)


def test_quiz_explains_every_option_with_the_rules_own_figures(desk: Page) -> None:
    quiz = SceneOnPage(desk, "quiz")
    quiz.reset()
    for name, right in RIGHT.items():
        for option in "ABCD":
            quiz.control(f"{name}-{option}").check()
            why = quiz.control(f"{name}-{option}-why")
            expect(why).to_have_class(re.compile("ok" if option == right else "miss"))
            text = why.inner_text()
            assert len(text) > 12
            assert [figure for figure in FIGURES.get((name, option), []) if figure not in text] == []


def _orders(page: Page) -> list[list[str]]:
    return [
        page.locator(f"input[name=quiz-q{n}]").evaluate_all("all => all.map((one) => one.value)")
        for n in range(1, 5)
    ]


def test_quiz_is_shuffled_by_its_seed_alone(desk: Page) -> None:
    quiz = SceneOnPage(desk, "quiz")
    quiz.reset()
    orders = {}
    for seed in range(1, 5):
        orders[seed] = _orders(desk)
        assert all(sorted(order) == list("ABCD") for order in orders[seed])
        quiz.control("q1-A").check()
        quiz.shows(state=f"q1=A&q2=&q3=&q4=&seed={seed}")
        assert _orders(desk) == orders[seed]  # an answer moves nothing
        quiz.control("again").click()
        quiz.shows(state=f"q1=&q2=&q3=&q4=&seed={seed + 1}")
    assert len({str(order) for order in orders.values()}) > 1
    quiz.reset()
    assert _orders(desk) == orders[1]
