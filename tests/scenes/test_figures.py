"""What each scene shows: the contract's keys, defaults and quantities, and the lesson's figures."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest

from scenes import stage
from scenes.scene import Action
from sim import batching
from sim.station import FRIDAY, NEEDS
from tests.scenes.fragment import parse

DEFAULTS = {
    "growth": ("step=2", {"items": "8", "added": "3", "next_locker": "9", "reserved.empty": "4"}),
    "one-traveller": (
        "items=8",
        {"reserved.used": "8", "reserved.empty": "4", "paged.used": "8", "paged.free": "4"},
    ),
    "admission": (
        "luggage=8,5,10,3,7,6&order=fcfs",
        {
            "reserved.admitted": "5", "reserved.used": "33", "reserved.empty": "27", "reserved.free": "0",
            "reserved.waiting": "1", "paged.admitted": "6", "paged.used": "39", "paged.empty": "0",
            "paged.free": "21", "paged.waiting": "0", "total": "39",
        },
    ),
    "block-table": (
        "a=7,11,1,14,4&b=2,3,9&c=5,10,12,13&page=3",
        {
            "a.pages": "5", "a.page.1": "7", "a.page.2": "11", "a.page.3": "1", "a.page.4": "14",
            "a.page.5": "4", "free": "4",
        },
    ),
    "batching": (
        "needs=6,2,3,2,1,2&windows=3&round=8",
        {
            "static.rounds": "8", "static.slots": "24", "static.idle": "8", "static.mean_finish": "5.67",
            "static.mean_return": "7.00", "continuous.rounds": "6", "continuous.slots": "18",
            "continuous.idle": "2", "continuous.mean_finish": "4.17",
        },
    ),
    "engine-map": (
        "round=10",
        {"running": "2", "waiting": "2", "blocks.used": "50", "blocks.free": "10", "tokens": "29"},
    ),
    "quiz": ("q1=&q2=&q3=&q4=&seed=1", {"score": "0"}),
}  # fmt: skip


@pytest.mark.parametrize("scene", DEFAULTS)
def test_the_default_of_the_table(scene):
    state, quantities = DEFAULTS[scene]
    answer = stage.answer(scene)
    assert (answer.query, answer.address) == (state, "")
    assert answer.quantities == quantities
    assert parse(answer.html).attributes["data-state"] == state


ELSEWHERE = {
    "growth": "step=4",
    "one-traveller": "items=1",
    "admission": "luggage=1&order=skip",
    "block-table": "a=&b=&page=1",
    "batching": "needs=1&windows=6&round=0",
    "engine-map": "round=0",
    "quiz": "q1=A&seed=9",
}


@pytest.mark.parametrize("scene", ELSEWHERE)
def test_reset_leads_to_the_default(scene):
    before = stage.answer(scene, ELSEWHERE[scene])
    assert before.address
    answer = stage.answer(scene, before.query, Action("reset"))
    assert (answer.query, answer.address) == (stage.answer(scene).query, "")


def do(scene: str, *actions: tuple[str, ...], query: str = "") -> stage.Answer:
    """Do one action after the other."""
    answer = stage.answer(scene, query)
    for action in actions:
        answer = stage.answer(scene, answer.query, Action(*action))
    return answer


def said(answer: stage.Answer) -> str:
    (status,) = parse(answer.html).find(role="status")
    return " ".join(status.text.split())


def disabled(answer: stage.Answer) -> set[str]:
    return {one.attributes["data-action"] for one in parse(answer.html).find(aria_disabled="true")} - {"back"}


def figures(answer: stage.Answer, names: str) -> list[str]:
    return [answer.quantities[name] for name in names.split()]


# growth


def test_the_luggage_grows_step_by_step_and_stops_at_the_limit():
    names = "items added next_locker reserved.empty"
    shown = [figures(stage.answer("growth", f"step={step}"), names) for step in range(5)]
    assert shown == [["3", "3", "4", "9"], ["5", "2", "6", "7"], ["8", "3", "9", "4"], ["10", "2", "11", "2"],
                     ["12", "2", "", "0"]]  # fmt: skip
    assert disabled(stage.answer("growth", "step=4")) == {"more"}
    assert disabled(stage.answer("growth", "step=0")) == {"less"}
    assert do("growth", *[("more",)] * 9).query == "step=4"
    assert do("growth", *[("less",)] * 9).query == "step=0"


def test_the_lockers_of_a_step_stay_what_they_were():
    """A locker that held something holds it in every later row, and new things stand after the old ones."""
    root = parse(stage.answer("growth", "step=4").html)
    places = [[f"growth-{step}-{place}" for place in range(1, 13)] for step in range(5)]
    rows = [[root.find(id=place)[0].attributes["class"].split() for place in row] for row in places]
    assert [sum("free" not in cell for cell in row) for row in rows] == [3, 5, 8, 10, 12]
    for before, after in pairwise(rows):
        held = sum("free" not in cell for cell in before)
        assert ["old" in cell for cell in after] == [place < held for place in range(12)]


# one-traveller


@pytest.mark.parametrize("items", range(1, 13))
def test_one_traveller(items):
    answer = stage.answer("one-traveller", f"items={items}")
    names = "reserved.used reserved.empty paged.used paged.free"
    assert figures(answer, names) == [str(items), str(12 - items)] * 2
    assert ("打平" in said(answer)) == (items == 12)


def test_the_guess_about_one_item():
    assert do("one-traveller", ("guess", "", "11")).query == "items=1"
    assert said(do("one-traveller", ("guess", "", "11"))).startswith("你猜 11 格，猜對了。")
    assert said(do("one-traveller", ("guess", "", "0"))).startswith("你猜 0 格，算出來是 11 格。")


# admission

EVENINGS = {
    "friday": (39, "5 33 27", "6 39 21"),
    "light": (11, "5 9 51", "6 11 49"),
    "exact": (60, "5 50 10", "6 60 0"),
    "over": (65, "5 56 4", "5 56 4"),
    "full": (72, "5 60 0", "5 60 0"),
}


@pytest.mark.parametrize("evening", EVENINGS)
def test_the_five_evenings(evening):
    total, reserved, paged = EVENINGS[evening]
    answer = do("admission", ("preset", "", evening))
    assert answer.quantities["total"] == str(total)
    assert figures(answer, "reserved.admitted reserved.used reserved.empty") == reserved.split()
    assert figures(answer, "paged.admitted paged.used paged.free") == paged.split()
    assert figures(answer, "reserved.free paged.empty") == ["0", "0"]
    for keeper in ("reserved", "paged"):
        lockers = figures(answer, f"{keeper}.used {keeper}.empty {keeper}.free")
        people = figures(answer, f"{keeper}.admitted {keeper}.waiting")
        assert (sum(map(int, lockers)), sum(map(int, people))) == (60, 6)


def queue_of(answer: stage.Answer, keeper: str) -> str:
    (queue,) = parse(answer.html).find(id=f"admission-{keeper}-queue")
    return " ".join(queue.text.split())


def test_why_f_waits_is_told_with_the_figures():
    answer = do("admission", ("preset", "", "over"))
    assert "為什麼 F 在等？F 要 9 格，剩 4 格。" in queue_of(answer, "paged")
    assert "為什麼 F 在等？F 要一整排 12 格連號，剩 0 格。" in queue_of(answer, "reserved")
    assert "F 要 9 格，阿頁只剩 4 格" in said(answer)


def test_first_come_or_whoever_fits():
    fcfs = do("admission", ("preset", "", "queue"))
    skip = do("admission", ("preset", "", "queue"), ("order", "", "skip"))
    assert figures(fcfs, "paged.admitted paged.used paged.waiting") == ["5", "56", "4"]
    assert figures(skip, "paged.admitted paged.used paged.waiting") == ["7", "60", "2"]
    assert "G 只要 3 格、放得下，但先來先服務，前面的 F 還沒進去。" in queue_of(fcfs, "paged")
    assert "I 要 4 格，剩 0 格。" in queue_of(skip, "paged")


def test_six_more_of_an_ordinary_friday():
    answer = do("admission", ("six",))
    assert answer.query == f"luggage={','.join(map(str, FRIDAY * 2))}&order=fcfs"
    assert figures(answer, "paged.admitted paged.used reserved.admitted") == ["8", "52", "5"]
    assert do("admission", ("six",), ("fewer",)).address == ""


def test_light_luggage_until_all_36_are_there():
    answer = do("admission", ("preset", "", "light"), *[("six",)] * 5)
    assert answer.query.count(",") + 1 == 36
    assert figures(answer, "paged.admitted reserved.admitted") == ["32", "5"]
    assert "six" in disabled(answer)
    assert do("admission", ("six",), query=answer.query).query == answer.query
    skip = do("admission", ("order", "", "skip"), query=answer.query)
    assert figures(skip, "paged.admitted reserved.admitted") == ["33", "5"]
    labels = [one.text.strip() for one in parse(answer.html).find("th", scope="row")]
    assert (labels[0], labels[25], labels[26], labels[35]) == ("A", "Z", "AA", "AJ")


def test_six_more_takes_the_current_first_six():
    answer = do("admission", ("items", "0", "1"), ("six",))
    assert answer.query == "luggage=1,5,10,3,7,6,1,5,10,3,7,6&order=fcfs"
    assert do("admission", ("six",), query="luggage=4,5").query == "luggage=4,5,4,5&order=fcfs"


def test_a_traveller_who_waits_changes_nothing_for_others_by_bringing_more():
    over = do("admission", ("preset", "", "over"))
    for items, shown in (("5", ["5", "56", "4"]), ("12", ["5", "56", "4"]), ("4", ["6", "60", "0"])):
        answer = do("admission", ("items", "5", items), query=over.query)
        assert figures(answer, "paged.admitted paged.used paged.free") == shown


def test_steppers_stop_at_their_ends():
    answer = do("admission", *[("less", "3")] * 5, *[("more", "2")] * 5)
    assert answer.query == "luggage=8,5,12,1,7,6&order=fcfs"
    root = parse(answer.html)
    for control in ("admission-less-3", "admission-more-2"):
        assert root.find(id=control)[0].attributes["aria-disabled"] == "true"


# block-table


def table(answer: stage.Answer) -> list[str]:
    return [answer.quantities[f"a.page.{page}"] for page in range(1, int(answer.quantities["a.pages"]) + 1)]


def test_a_grows_until_no_locker_is_free_and_then_says_so():
    before = table(stage.answer("block-table"))
    taken = []
    answer = stage.answer("block-table")
    for _ in range(4):
        answer = do("block-table", ("append",), query=answer.query)
        assert table(answer)[: len(before)] == before
        taken.append(table(answer)[-1])
        before = table(answer)
    assert taken == ["6", "8", "15", "16"]
    full = do("block-table", ("append",), query=answer.query)
    assert (full.query, full.quantities["free"]) == (answer.query, "0")
    assert said(full) == "沒有空格了。A 的下一頁要等別人離開，或請人先讓位。"


def test_b_leaves_and_the_table_of_a_stays():
    before = stage.answer("block-table")
    after = do("block-table", ("leave",))
    assert table(after) == table(before)
    assert (before.quantities["free"], after.quantities["free"]) == ("4", "7")
    assert after.query == "a=7,11,1,14,4&b=&c=5,10,12,13&page=3"
    assert "leave" in disabled(after)
    assert "B 還了 3 格" in said(after)
    again = do("block-table", ("append",), query=after.query)
    assert table(again)[:5] == table(before)


def selected(answer: stage.Answer) -> tuple[str, str]:
    """The selected row of the table and the selected locker."""
    root = parse(answer.html)
    rows = [one for one in root.find("tr") if "sel" in one.attributes.get("class", "").split()]
    cells = root.find("td", aria_selected="true")
    assert len(rows) == len(cells) == 1
    ids = rows[0].attributes["id"], cells[0].attributes["id"]
    return ids[0].removeprefix("block-table-row-"), ids[1].removeprefix("block-table-cell-")


@pytest.mark.parametrize(("page", "locker"), [("1", "7"), ("2", "11"), ("3", "1"), ("4", "14"), ("5", "4")])
def test_a_page_shows_its_row_and_its_locker(page, locker):
    assert selected(do("block-table", ("page", "", page))) == (page, locker)
    assert selected(do("block-table", ("cell", "", locker))) == (page, locker)


def test_a_locker_says_whose_it_is():
    assert said(do("block-table", ("cell", "", "9"))).startswith("9 號格是 B 的第 3 頁。")
    assert said(do("block-table", ("cell", "", "6"))).startswith("6 號格是空格。")
    assert said(do("block-table", ("cell", "", "1"))).startswith("A 的第 3 頁在 1 號格。")


FULL = f"a=1,2,3&b=4&c={','.join(map(str, range(5, 17)))}"


@pytest.mark.parametrize("query", ["", "b=", "a=1", FULL, "a=2,1&b=&c="])
def test_another_way_to_lay_the_pages_keeps_their_number_and_moves_them_all(query):
    before, after = stage.answer("block-table", query), do("block-table", ("scatter",), query=query)
    assert len(table(before)) == len(table(after)) == len(set(table(after)))
    assert all(here != there for here, there in zip(table(before), table(after), strict=True))
    assert before.quantities["free"] == after.quantities["free"]
    assert "格子全換了" in said(after)
    assert before.query.split("&")[1:3] == after.query.split("&")[1:3]


@pytest.mark.parametrize("query", ["a=", f"a=1&b=&c={','.join(map(str, range(2, 17)))}"])
def test_what_cannot_be_moved_is_not_said_to_have_moved(query):
    before, after = stage.answer("block-table", query), do("block-table", ("scatter",), query=query)
    assert after.query == before.query
    assert "格子全換了" not in said(after)


NEIGHBOURS = [("7,11,1", True), ("1,3", True), ("1,2", False), ("9,5,4", False), ("5", False)]


@pytest.mark.parametrize(("a", "apart"), NEIGHBOURS)
def test_lockers_are_called_apart_only_when_they_are(a, apart):
    assert ("格子不相鄰" in said(stage.answer("block-table", f"a={a}&b=&c="))) == apart


# batching


def test_the_last_round_stays_the_last_when_the_needs_change():
    answer = do("batching", ("needs", "0", "12"))
    assert answer.query == "needs=12,2,3,2,1,2&windows=3&round=14"
    assert answer.address == "needs=12,2,3,2,1,2"
    assert do("batching", ("windows", "", "6"), query=answer.query).query.endswith("windows=6&round=12")


def test_an_earlier_round_stays_while_it_is_there():
    assert do("batching", ("round", "", "5"), ("needs", "0", "12")).query.endswith("&round=5")
    fewer = do("batching", ("round", "", "7"), ("needs", "0", "1"))
    assert fewer.query.endswith("&round=5")  # the last, now


def test_rounds_forwards_and_backwards_stop_at_their_ends():
    assert do("batching", ("next",)).query.endswith("round=8")
    assert do("batching", ("previous",)).query.endswith("round=7")
    assert do("batching", ("first",), ("previous",)).query.endswith("round=0")
    assert {"previous"} <= disabled(do("batching", ("first",)))
    assert {"next"} <= disabled(stage.answer("batching"))


def timeline(answer: stage.Answer, rule: str) -> list[str]:
    """The windows of a rule, round by round, read from the fragment."""
    (figure,) = parse(answer.html).find(id=f"batching-{rule}")
    lines = [row.find("td") for row in figure.find("tbody")[0].find("tr")]
    marks = {"idle": "·", "none": "", "later": "?"}
    kinds = [[(one.attributes["class"].split()[0], one.text.strip()) for one in line] for line in lines]
    read = [[marks.get(kind, text) for kind, text in line] for line in kinds]
    return list(map("".join, zip(*read, strict=True)))


def test_the_timelines_are_those_of_the_facts():
    answer = stage.answer("batching")
    assert timeline(answer, "static") == ["ABC", "ABC", "A·C", "A··", "A··", "A··", "DEF", "D·F"]
    assert timeline(answer, "continuous") == ["ABC", "ABC", "ADC", "ADE", "AF·", "AF·", "", ""]
    early = stage.answer("batching", "round=2")
    assert timeline(early, "static") == ["ABC", "ABC", *["???"] * 6]
    assert timeline(early, "continuous") == ["ABC", "ABC", *["???"] * 4, "", ""]


def test_figures_are_of_the_whole_run_whatever_the_round():
    whole = stage.answer("batching").quantities
    assert all(stage.answer("batching", f"round={number}").quantities == whole for number in range(9))


def test_what_happened_in_a_round_is_said():
    told = [said(stage.answer("batching", f"round={number}")) for number in range(7)]
    assert told[0].startswith("還沒開始。6 位都在排隊")
    assert "B 辦完了" in told[2]
    assert "D 補進窗 2" in told[3]
    assert "C 辦完了" in told[3]
    assert "E 補進窗 3" in told[4]
    assert "D、E 辦完了" in told[4]
    assert "F 補進窗 2" in told[5]
    assert "1 個窗口空著，因為沒有人在排隊" in told[5]
    assert "A、F 辦完了" in told[6]


def test_an_order_that_saves_nothing():
    answer = do("batching", ("preset", "", "late"))
    needs = tuple(map(int, answer.query.split("&")[0].removeprefix("needs=").split(",")))
    assert sorted(needs) == sorted(NEEDS)
    assert answer.quantities["static.rounds"] == answer.quantities["continuous.rounds"]
    assert "一輪也沒省" in said(answer)


def test_shuffling_shows_every_order_of_the_six():
    seen, answer = set(), stage.answer("batching")
    for _ in range(120):
        answer = do("batching", ("shuffle",), query=answer.query)
        pair = figures(answer, "static.rounds continuous.rounds")
        needs = tuple(map(int, answer.query.split("&")[0].removeprefix("needs=").split(",")))
        assert pair == [str(len(rule(needs, 3).rounds)) for rule in (batching.static, batching.continuous)]
        seen.add(needs)
    assert seen == set(permutations(NEEDS))


def test_travellers_come_and_go_within_the_range():
    many = do("batching", *[("add",)] * 9)
    assert many.query.startswith("needs=6,2,3,2,1,2,2,2,2,2,2,2&")
    assert "add" in disabled(many)
    assert said(many).startswith("最多排 12 位。")
    one = do("batching", *[("drop",)] * 9)
    assert one.query == "needs=6&windows=3&round=6"
    assert "drop" in disabled(one)
    assert said(one).startswith("至少要有 1 位。")


# engine-map


def test_the_map_counts_as_the_engine_does():
    tokens = []
    for number in range(17):
        answer = stage.answer("engine-map", f"round={number}")
        shown = {name: int(text) for name, text in answer.quantities.items()}
        assert shown["blocks.used"] + shown["blocks.free"] == 60
        assert shown["running"] <= 3
        tokens.append((shown["tokens"], shown["running"]))
    assert tokens[0] == (0, 0)
    assert tokens[-1][0] == 40
    steps = [(after - before, running) for (before, _), (after, running) in pairwise(tokens)]
    assert all(given == running for given, running in steps)


def test_the_map_says_why_g_waits():
    assert "有窗口空著，但 G 要 11 格，只剩 10 格。" in said(stage.answer("engine-map"))


def test_every_round_of_the_map_is_drawn_as_it_is_counted():
    for number in range(17):
        answer = stage.answer("engine-map", f"round={number}")
        root = parse(answer.html)
        (wall,) = root.find(id="engine-map-wall")
        lockers = [one for one in wall.find("g") if "class" in one.attributes]
        kinds = [one.attributes["class"].split()[1] for one in lockers]
        assert len(kinds) == 60
        assert answer.quantities["blocks.used"] == str(kinds.count("used"))
        assert answer.quantities["blocks.free"] == str(kinds.count("free"))
        windows = [root.find(id=f"engine-map-window-{window}")[0] for window in (1, 2, 3)]
        full = [one for one in windows if "empty" not in one.attributes["class"].split()]
        assert answer.quantities["running"] == str(len(full))


# quiz

RIGHT = {"q1": "B", "q2": "B", "q3": "B", "q4": "C"}


def test_the_score_counts_right_answers():
    answer = stage.answer("quiz")
    for number, (question, option) in enumerate(RIGHT.items(), 1):
        answer = do("quiz", (question, "", option), query=answer.query)
        assert answer.quantities["score"] == str(number)
        assert said(answer).startswith(f"第 {number} 題答對了。")
    assert answer.query == "q1=B&q2=B&q3=B&q4=C&seed=1"
    wrong = do("quiz", ("q1", "", "A"), query=answer.query)
    assert (wrong.quantities["score"], wrong.query) == ("3", "q1=A&q2=B&q3=B&q4=C&seed=1")


def orders(answer: stage.Answer) -> list[list[str]]:
    root = parse(answer.html)
    groups = [root.find("input", name=f"quiz-{question}") for question in RIGHT]
    return [[one.attributes["value"] for one in group] for group in groups]


def test_options_are_shuffled_by_the_seed_alone():
    seen = set()
    for seed in range(40):
        order = orders(stage.answer("quiz", f"seed={seed}"))
        assert all(sorted(options) == list("ABCD") for options in order)
        assert order == orders(stage.answer("quiz", f"q1=B&q2=A&q4=D&seed={seed}"))
        seen.add(str(order))
    assert len(seen) > 30


def test_another_try_has_no_answers_and_another_order():
    answer = do("quiz", ("q1", "", "B"), ("again",))
    assert (answer.query, answer.quantities["score"]) == ("q1=&q2=&q3=&q4=&seed=2", "0")
    assert orders(answer) != orders(stage.answer("quiz"))
    assert do("quiz", ("again",), query="seed=9999").query == "q1=&q2=&q3=&q4=&seed=0"


@pytest.mark.parametrize("question", RIGHT)
def test_every_option_is_explained_by_itself_whatever_the_order(question):
    """The explanation goes with the option: the same for every seed, and another for each option."""
    why: dict[str, set[str]] = {}
    for seed in (1, 2, 3):
        for option in "ABCD":
            answer = stage.answer("quiz", f"{question}={option}&seed={seed}")
            (told,) = parse(answer.html).find(id=f"quiz-{question}-{option}-why")
            assert told.text.startswith("對。" if RIGHT[question] == option else "不對。")
            why.setdefault(option, set()).add(told.text)
    assert [len(texts) for texts in why.values()] == [1] * 4
    assert len(set.union(*why.values())) == 4


FIGURES = (
    "72 件",
    "60 格",
    "5 位共 60 件",
    "12、11、12、10、11、9",
    "剩 4 格，而 F 要 9 格",
    "8 次降到 2 次",
    "8 輪對 8 輪",
    "7.00",
    "30.42",
    "最多空 15 個",
    "從 6 輪縮短成 4 輪",
    "8 ÷ 6 大約是 1.33",
    "快 33%",
)


def test_the_figures_of_the_explanations():
    root = parse(stage.answer("quiz").html)
    texts = [one.text for one in root.find("li")]
    for figure in FIGURES:
        assert any(figure in text for text in texts), figure
    (order,) = {text.split("只要改成 ")[1].split(" 的順序")[0] for text in texts if "只要改成" in text}
    needs = tuple(map(int, order.split("、")))
    assert sorted(needs) == sorted(NEEDS)
    assert [len(rule(needs, 3).rounds) for rule in (batching.static, batching.continuous)] == [8, 8]
