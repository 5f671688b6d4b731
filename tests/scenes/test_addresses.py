"""Addresses: whatever they hold, a valid state is shown, and said so when it is not what was asked for."""

from __future__ import annotations

import random
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenes import stage
from scenes.fields import Integer, Integers, Latest, Notice, pairs
from scenes.scene import Action
from tests.scenes.contract import findings
from tests.scenes.ranges import RANGES
from tests.scenes.walks import Step, any_address, seen, walk


def says(scene: str, query: str, action: Action | None = None) -> str:
    """The sentence spoken, in one line."""
    (status,) = seen(Step(scene, query, action, False).answer.html).find(role="status")
    return " ".join(status.text.split())


def given_and_used(query: str, written: str) -> dict[str, tuple[str, str]]:
    """For each key of the scene that the address names: its last value there, and the value of the answer."""
    used = dict(part.split("=", 1) for part in written.split("&"))
    given: dict[str, str] = {}
    for part in query.removeprefix("?").split("&"):
        key, equals, value = part.partition("=")
        if equals and unquote(key) in used:
            given[unquote(key)] = unquote(value)
    return {key: (value, used[key]) for key, value in given.items()}


def judge(scene: str, query: str) -> None:
    """Valid, whole, and told."""
    step = Step(scene, query, None, False)
    answer = step.answer
    assert list(findings(step)) == [], query
    if scene in RANGES:
        assert list(RANGES[scene](answer.query)) == [], query
    changed = {key for key, (asked, used) in given_and_used(query, answer.query).items() if asked != used}
    if scene == "batching" and given_and_used(query, answer.query).get("round", ("x",))[0] == "":
        changed.discard("round")  # left empty it means the last, and that is what is written
    plain = says(scene, answer.address)
    said = says(scene, query)
    assert said.endswith(plain)
    if changed:
        assert len(said) > len(plain), f"{scene}?{query}: {changed} changed and nothing said"
    notices = stage.find(scene).read(query)[1]
    assert bool(notices) == (said != plain)
    for notice in notices[:3]:
        assert " ".join(notice.given.split()) in said
        assert " ".join(notice.used.split()) in said


HOSTILE = (
    "", "?", "&", "=", "&&==&", "%", "%zz", "%00=%00", "?" * 50, "a" * 10_000, "&" * 10_000, "=" * 10_000,
    "%F0%28%8C%28=1", "[]=1", "__proto__=1", "constructor=1", "<script>=<script>", "'\"><svg onload=1>",
)  # fmt: skip
VALUES = (
    "", "%", "+", "+5", "5+5", "-1", "-0", "00", "1e9", "1e999", "-1e999", "9" * 400, "0." + "9" * 400,
    "1" * 5_000, "NaN", "Infinity", "1,", ",1", ",,,", "1,,2", "1%2C2", "1;2", "1 2", "%201", "1%0A", "%00",
    "٣", "３", "²", "Ⅷ", "1_0", "0x1", "1" + "0" * 20, "7.5", "7.4999999999999999", "-7.5", "None", "%3Cb%3E",
    "%26", "%3D", "%25", "%F0%9F%A7%B3", "%FF", "%ED%A0%80", "\u202eabc", "a" * 3_000, "7,7,7,7", "16,17,0",
)  # fmt: skip


@pytest.mark.parametrize("scene", stage.SCENES)
def test_hostile_addresses_show_the_default_and_say_nothing(scene):
    for query in HOSTILE:
        judge(scene, query)
        assert stage.answer(scene, query).address == ""


@pytest.mark.parametrize("scene", stage.SCENES)
def test_hostile_values_of_every_key(scene):
    for key in pairs(stage.answer(scene).query):
        for value in VALUES:
            judge(scene, f"{key}={value}")


@pytest.mark.parametrize("scene", stage.SCENES)
def test_random_addresses(scene):
    for seed in range(25):
        judge(scene, any_address(scene, random.Random(f"address {scene} {seed}")))


@pytest.mark.parametrize("scene", stage.SCENES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_text_at_all(scene, data):
    """Text as a browser can hold it: no lone halves of characters."""
    keys = list(pairs(stage.answer(scene).query))
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
    parts = data.draw(st.lists(st.tuples(st.sampled_from(keys) | text, text), max_size=4))
    judge(scene, "&".join(f"{key}={value}" for key, value in parts))


@pytest.mark.parametrize("scene", stage.SCENES)
def test_half_a_character_is_no_reason_to_fall(scene):
    for key in pairs(stage.answer(scene).query):
        stage.answer(scene, f"{key}=\ud800,\udfff")
    stage.answer(scene, "", Action("\ud800", "\udc00", "\udfff"))


@pytest.mark.parametrize("scene", stage.SCENES)
def test_the_last_of_a_repeated_key_wins_and_foreign_keys_do_not_count(scene):
    for seed in range(6):
        for step in walk(scene, seed, 3):
            query = step.answer.query
            doubled = "&".join(f"{key}=1,2,x" for key in pairs(query))
            again = stage.answer(scene, f"utm=1&{doubled}&other.step=3&{query}&step5=9&=3")
            assert (again.query, again.address) == (query, step.answer.address)
            assert stage.find(scene).read(f"{doubled}&{query}")[1] == []


@pytest.mark.parametrize("scene", stage.SCENES)
def test_percent_escapes_are_the_characters_that_they_stand_for(scene):
    query = stage.answer(scene).query
    keys = {key: "".join(f"%{ord(letter):02x}" for letter in key) for key in pairs(query)}
    escaped = "&".join(f"{keys[key]}={quote(value, safe='')}" for key, value in pairs(query).items())
    assert "%2C" in escaped or "," not in query
    answer = stage.answer(scene, escaped)
    assert (answer.query, answer.address) == (query, "")
    assert stage.find(scene).read(escaped)[1] == []


@pytest.mark.parametrize("scene", stage.SCENES)
def test_the_address_holds_only_what_differs_from_the_default(scene):
    usual = pairs(stage.answer(scene).query)
    for seed in range(8):
        for step in walk(scene, seed):
            answer = step.answer
            shown, full = pairs(answer.address), pairs(answer.query)
            assert list(full) == list(usual)
            assert list(shown) == [key for key in full if key in shown]
            assert all(full[key] == value != usual[key] for key, value in shown.items())
            left_out = {key for key in full if key not in shown and full[key] != usual[key]}
            assert left_out <= ({"round"} if scene == "batching" else set())


@pytest.mark.parametrize("scene", stage.SCENES)
def test_a_million_items_are_read_no_further_than_needed(scene):
    for key in pairs(stage.answer(scene).query):
        few, many = (stage.answer(scene, f"{key}={'1,' * count}1") for count in (100, 1_000_000))
        assert few.query == many.query
        assert len(many.html) < len(few.html) + 100


# What is said


@pytest.mark.parametrize(
    ("scene", "query", "said"),
    [
        ("growth", "step=7", "網址裡的 step 寫著「7」，應該是 0 到 4 的整數，先用 4。"),
        ("growth", "step=abc", "網址裡的 step 寫著「abc」，應該是 0 到 4 的整數，先用 2。"),
        ("growth", "step=+3", "網址裡的 step 寫著「+3」，應該是 0 到 4 的整數，先用 3。"),
        ("one-traveller", "items=0", "網址裡的 items 寫著「0」，應該是 1 到 12 的整數，先用 1。"),
        ("one-traveller", "items=7.5", "網址裡的 items 寫著「7.5」，應該是 1 到 12 的整數，先用 8。"),
        ("growth", "step=", "網址裡的 step 沒有寫值，應該是 0 到 4 的整數，先用 2。"),
        ("growth", "step", "網址裡的 step 後面沒有等號和值，先用原來的設定。"),
        ("admission", "order=lifo", "網址裡的 order 寫著「lifo」，應該是 fcfs 或 skip，先用「fcfs」。"),
        ("admission", "order=", "網址裡的 order 沒有寫值，應該是 fcfs 或 skip，先用「fcfs」。"),
        ("block-table", "b", "網址裡的 b 後面沒有等號和值，先用原來的設定。"),
        ("block-table", "page=0", "網址裡的 page 寫著「0」，應該是 1 到 5 的整數，先用 1。"),
        ("block-table", "page=1.5&a=7,11", "網址裡的 page 寫著「1.5」，應該是 1 到 2 的整數，先用 2。"),
        ("block-table", "a=&page=5", "網址裡的 page 寫著「5」，現在只能是 1，先用 1。"),
        ("batching", "round=-1", "網址裡的 round 寫著「-1」，應該是 0 到 8 的整數，先用 0。"),
        ("batching", "round=2.5&windows=1", "網址裡的 round 寫著「2.5」，應該是 0 到 16 的整數，先用 3。"),
        ("admission", "luggage=", "網址裡的 luggage 只有 0 項，補到 1 項。"),
        ("admission", f"luggage={'1,' * 36}1", "網址裡的 luggage 有 37 項，只取前 36 項。"),
        ("admission", f"luggage={'1,' * 9999}1", "網址裡的 luggage 有 10000 項，只取前 36 項。"),
        ("block-table", "a=7,7,1", "7 號格被寫了兩次，留給先寫到它的旅客。"),
        ("block-table", "page=99", "網址裡的 page 寫著「99」，應該是 1 到 5 的整數，先用 5。"),
        ("batching", "round=999", "網址裡的 round 寫著「999」，應該是 0 到 8 的整數，先用 8。"),
        ("batching", "round=abc", "網址裡的 round 寫著「abc」，應該是 0 到 8 的整數，先用 8。"),
        ("quiz", "q1=E", "網址裡的 q1 寫著「E」，應該是 A、B、C 或 D，先用原來的設定。"),
    ],
)
def test_a_correction_says_what_was_given_and_what_is_used(scene, query, said):
    assert says(scene, query).removesuffix(says(scene, stage.answer(scene, query).address)).strip() == said


def test_more_than_three_corrections_are_counted():
    said = says("admission", "luggage=0,13,x,99,-1")
    assert said.count("網址裡的 luggage") == 3
    assert "另有 2 處也照這樣處理。" in said


def test_what_the_address_did_not_say_is_not_corrected():
    """Page 3, the usual one, is not there when A has two pages; that is nobody's mistake."""
    answer = stage.answer("block-table", "a=7,11")
    assert answer.query == "a=7,11&b=2,3,9&c=5,10,12,13&page=2"
    assert stage.find("block-table").read("a=7,11")[1] == []


def test_a_locker_named_twice_stays_with_the_first_traveller():
    answer = stage.answer("block-table", "a=1,2,1&b=2,3&c=3,1,4")
    assert answer.query == "a=1,2&b=3&c=4&page=2"
    twice = [notice.given for notice in stage.find("block-table").read("a=1,2,1&b=2,3&c=3,1,4")[1]]
    assert twice == ["1", "2", "3"]


def test_an_empty_list_is_a_value():
    assert stage.answer("block-table", "b=").query == "a=7,11,1,14,4&b=&c=5,10,12,13&page=3"
    assert stage.find("block-table").read("b=")[1] == []


@pytest.mark.parametrize("value", ["", " ", "abc", "５", "1/2"])
def test_a_field_that_holds_no_number_changes_nothing_and_says_so(value):
    before = stage.answer("admission")
    action = Action("items", "0", value)
    after = stage.answer("admission", "", action)
    assert (after.query, after.quantities) == (before.query, before.quantities)
    said = f"「{value}」不是數字" if value.strip() else "沒有讀到數字"
    assert says("admission", "", action).startswith(f"{said}，要填 1 到 12 的整數，什麼都沒有變。")


FIELDS = [("admission", "items", "0", 1, 12), ("batching", "needs", "1", 1, 12), ("growth", "step", "", 0, 4)]


@pytest.mark.parametrize(("scene", "name", "arg", "low", "high"), FIELDS)
@pytest.mark.parametrize("value", ["99", "-3", "1.5", "1e3", "1e999", "-1e999", " 2.4 ", "13", "-1", ".6"])
def test_a_number_out_of_range_becomes_the_nearest_and_it_is_told(scene, name, arg, low, high, value):
    number = float(value)
    nearest = low if number < low else high if number > high else int(number + 0.5)
    given, right = Action(name, arg, value), Action(name, arg, str(nearest))
    assert stage.answer(scene, "", given).query == stage.answer(scene, "", right).query
    told = f"「{value}」不是 {low} 到 {high} 的整數，改用 {nearest}。 "
    assert says(scene, "", given).replace("「 2.4 」", f"「{value}」") == told + says(scene, "", right)


@pytest.mark.parametrize(("scene", "name", "arg", "low", "high"), FIELDS)
def test_numbers_in_range_are_taken_as_they_are(scene, name, arg, low, high):
    for number in range(low, high + 1):
        for value in (str(number), f" {number} ", f"{number}.0", f"+{number}", f"0{number}"):
            assert "整數" not in says(scene, "", Action(name, arg, value))


def test_a_readers_own_text_keeps_its_direction_to_itself():
    html = stage.answer("growth", "step=\u202eabc").html
    assert "「<bdi>\u202eabc</bdi>」，應該是 0 到 4 的整數" in html


def test_an_action_that_a_scene_has_not_is_named_and_changes_nothing():
    for scene in stage.SCENES:
        action = Action("fly", "0", "1")
        assert stage.answer(scene, "", action).query == stage.answer(scene).query
        assert says(scene, "", action).startswith("這一幕沒有「fly」這個動作，什麼都沒有變。")


# The kinds of parameters, against what their ranges mean


@given(low=st.integers(-20, 20), width=st.integers(0, 40), number=st.integers(-100, 100))
def test_a_number_becomes_the_nearest_in_range(low, width, number):
    kind = Integer(low, low + width)
    value, notices = kind.read("k", str(number), low)
    assert value == min(range(low, low + width + 1), key=lambda near: abs(near - number))
    told = Notice("number", "k", str(number), str(value), str(low), str(low + width))
    assert notices == ([] if value == number else [told])
    assert kind.read("k", kind.write(value), low) == (value, [])


@given(st.integers(-9999, 9999), st.integers(0, 9))
def test_halves_are_rounded_up(whole, tenth):
    value, _ = Integer(-10_000, 10_000).read("k", f"{whole}.{tenth}", 0)
    exact = abs(whole) * 10 + tenth
    exact = -exact if whole < 0 else exact
    assert value == (exact + 5) // 10


@given(st.lists(st.integers(1, 9), max_size=9), st.integers(0, 3), st.integers(0, 5))
def test_a_list_is_cut_and_filled(items, least, more):
    kind = Integers(1, 9, least, least + more)
    default = tuple(range(1, 9))
    value, notices = kind.read("k", ",".join(map(str, items)), default)
    kept = tuple(items[: least + more])
    assert value == kept + default[len(kept) : least]
    faults = {"many": len(items) > least + more, "few": len(items) < least}
    assert [notice.kind for notice in notices] == [kind for kind, is_so in faults.items() if is_so]


def test_the_latest_is_nothing_until_it_is_named():
    kind = Latest(0, 9)
    assert kind.read("k", "", None) == (None, [])
    assert kind.read("k", "4", None) == (4, [])
    assert kind.read("k", "40", None)[0] == 9
    assert (kind.write(None), kind.write(4)) == ("", "4")
