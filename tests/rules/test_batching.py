"""Static and continuous batching: the lesson's numbers, every small case, and two naive timetables.

The naive ones are written from the outside: they never look at rounds, only at when a window is free.
"""

from __future__ import annotations

import heapq
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import batching
from sim.batching import Timetable, another_order, continuous, static
from sim.station import NEEDS, WINDOWS, label

NEED = st.integers(1, batching.MOST_NEED)
LISTS = st.lists(NEED, min_size=1, max_size=batching.MOST_TRAVELLERS).map(tuple)
ROOMS = st.integers(1, batching.MOST_WINDOWS)
RULES = {"static": static, "continuous": continuous}


def drawn(run: Timetable) -> list[str]:
    return ["".join("·" if i is None else label(i) for i in row) for row in run.rounds]


# The lesson's six


def test_static_batching_of_the_six_round_by_round():
    run = static(NEEDS, WINDOWS)
    assert drawn(run) == ["ABC", "ABC", "A·C", "A··", "A··", "A··", "DEF", "D·F"]
    assert (len(run.rounds), run.slots, run.idle) == (8, 24, 8)
    assert run.finish == (6, 2, 3, 8, 7, 8)
    assert run.returned == (6, 6, 6, 8, 8, 8)
    assert (run.mean_finish, run.mean_return) == (Fraction(34, 6), 7)


def test_continuous_batching_of_the_six_round_by_round():
    run = continuous(NEEDS, WINDOWS)
    assert drawn(run) == ["ABC", "ABC", "ADC", "ADE", "AF·", "AF·"]
    assert (len(run.rounds), run.slots, run.idle) == (6, 18, 2)
    assert run.finish == run.returned == (6, 2, 3, 4, 4, 6)
    assert (run.mean_finish, run.mean_return) == (Fraction(25, 6), Fraction(25, 6))


def test_the_runner_up_of_the_facts():
    needs = (6, 2, 4, 2, 1, 2)
    assert drawn(static(needs, 3)) == ["ABC", "ABC", "A·C", "A·C", "A··", "A··", "DEF", "D·F"]
    assert drawn(continuous(needs, 3)) == ["ABC", "ABC", "ADC", "ADC", "AEF", "A·F"]
    assert (static(needs, 3).idle, continuous(needs, 3).idle) == (7, 1)


def test_exactly_35_vectors_tell_eight_and_six_with_a_of_six_and_b_of_two():
    found = [
        rest
        for rest in product(range(1, 9), repeat=4)
        if len(static((6, 2, *rest), 3).rounds) == 8 and len(continuous((6, 2, *rest), 3).rounds) == 6
    ]
    assert Counter(c for c, *_ in found) == {1: 7, 2: 7, 3: 7, 4: 7, 5: 4, 6: 3}
    assert len(found) == 35
    assert NEEDS[2:] in found
    assert {tuple(rest) for c, *rest in found if c == 6} == {(1, 1, 2), (1, 2, 1), (2, 1, 1)}


@pytest.mark.parametrize("rest", [(5, 1, 2, 2), (5, 2, 1, 2)])
def test_the_near_misses_have_a_small_sum_and_still_take_seven_rounds(rest):
    assert sum((6, 2, *rest)) == 18
    assert len(continuous((6, 2, *rest), 3).rounds) == 7


def test_the_120_orders_of_the_six():
    orders = set(permutations(NEEDS))
    pairs = Counter((len(static(order, 3).rounds), len(continuous(order, 3).rounds)) for order in orders)
    assert len(orders) == 120
    assert pairs == {(8, 6): 24, (8, 7): 6, (8, 8): 18, (9, 6): 36, (9, 7): 6, (9, 8): 18, (9, 9): 12}


# Against two naive timetables


def naive_continuous(needs: tuple[int, ...], windows: int) -> list[tuple[int, int, int]]:
    """List scheduling: (window, first and last round) of each, the next in line at the first free window."""
    free = [(0, window) for window in range(windows)]
    visits = []
    for need in needs:
        rounds_before, window = heapq.heappop(free)
        visits.append((window, rounds_before + 1, rounds_before + need))
        heapq.heappush(free, (rounds_before + need, window))
    return visits


def naive_static(needs: tuple[int, ...], windows: int) -> list[tuple[int, int, int]]:
    """(window, first round, last round) of each, batch by batch."""
    visits, before = [], 0
    for start in range(0, len(needs), windows):
        batch = needs[start : start + windows]
        visits += [(window, before + 1, before + need) for window, need in enumerate(batch)]
        before += max(batch)
    return visits


def as_rounds(visits: list[tuple[int, int, int]], windows: int) -> tuple[tuple[int | None, ...], ...]:
    last = max(end for _, _, end in visits)
    grid: list[list[int | None]] = [[None] * windows for _ in range(last)]
    for traveller, (window, first, end) in enumerate(visits):
        for number in range(first, end + 1):
            assert grid[number - 1][window] is None
            grid[number - 1][window] = traveller
    return tuple(map(tuple, grid))


NAIVE = {"static": naive_static, "continuous": naive_continuous}


@pytest.mark.parametrize("rule", RULES)
@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_the_timetable_is_the_naive_one(rule, needs, windows):
    visits = NAIVE[rule](needs, windows)
    run = RULES[rule](needs, windows)
    assert run.rounds == as_rounds(visits, windows)
    assert run.finish == tuple(end for _, _, end in visits)
    assert (run.needs, run.windows) == (needs, windows)


@pytest.mark.parametrize("rule", RULES)
def test_every_small_case_is_the_naive_one(rule):
    for length in range(1, 6):
        for needs in product(range(1, 4), repeat=length):
            for windows in range(1, 4):
                visits = NAIVE[rule](needs, windows)
                assert RULES[rule](needs, windows).rounds == as_rounds(visits, windows)


# What holds for every queue


@pytest.mark.parametrize("rule", RULES)
@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_work_is_conserved(rule, needs, windows):
    run = RULES[rule](needs, windows)
    served = [i for row in run.rounds for i in row if i is not None]
    assert Counter(served) == dict(enumerate(needs))
    assert all(len(row) == windows for row in run.rounds)
    assert all(max(Counter(i for i in row if i is not None).values()) == 1 for row in run.rounds)
    assert run.slots == len(run.rounds) * windows == sum(needs) + run.idle
    assert run.idle == sum(row.count(None) for row in run.rounds)
    assert run.mean_finish == Fraction(sum(run.finish), len(needs))


@pytest.mark.parametrize("rule", RULES)
@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_a_visit_is_not_interrupted_and_stays_at_its_window(rule, needs, windows):
    run = RULES[rule](needs, windows)
    for traveller, need in enumerate(needs):
        seen = [(r, w) for r, row in enumerate(run.rounds, 1) for w, i in enumerate(row) if i == traveller]
        last = run.finish[traveller]
        assert [r for r, _ in seen] == list(range(last - need + 1, last + 1))
        assert len({w for _, w in seen}) == 1


@pytest.mark.parametrize("rule", RULES)
@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_nobody_begins_before_an_earlier_arrival(rule, needs, windows):
    run = RULES[rule](needs, windows)
    begins = [finish - need for finish, need in zip(run.finish, needs, strict=True)]
    assert begins == sorted(begins)


@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_continuous_batching_leaves_no_window_idle_while_somebody_waits(needs, windows):
    run = continuous(needs, windows)
    come = set()
    for row in run.rounds:
        come |= {i for i in row if i is not None}
        assert None not in row or come == set(range(len(needs)))


@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_no_fewer_rounds_than_the_work_and_the_longest_ask_for(needs, windows):
    rounds = len(continuous(needs, windows).rounds)
    assert rounds >= max(max(needs), -(-sum(needs) // windows))
    assert rounds <= len(static(needs, windows).rounds)


@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_static_rounds_are_the_sum_of_the_batches_longest(needs, windows):
    run = static(needs, windows)
    batches = [needs[i : i + windows] for i in range(0, len(needs), windows)]
    assert len(run.rounds) == sum(map(max, batches))
    ends = [sum(map(max, batches[: i // windows + 1])) for i in range(len(needs))]
    assert list(run.returned) == ends
    assert all(finish <= returned for finish, returned in zip(run.finish, run.returned, strict=True))


@given(needs=LISTS, windows=ROOMS)
@settings(max_examples=100, deadline=None)
def test_nobody_is_done_later_than_in_batches(needs, windows):
    pairs = zip(continuous(needs, windows).finish, static(needs, windows).finish, strict=True)
    assert all(one <= other for one, other in pairs)


@given(needs=LISTS)
def test_with_a_window_for_everyone_both_are_the_same(needs):
    windows = min(len(needs), batching.MOST_WINDOWS)
    needs = needs[:windows]
    assert static(needs, windows).rounds == continuous(needs, windows).rounds


# Other orders


@given(st.lists(NEED, min_size=1, max_size=5).map(tuple))
@settings(max_examples=100, deadline=None)
def test_another_order_visits_every_order_once_and_comes_back(needs):
    orders = set(permutations(needs))
    seen, now = [], needs
    for _ in orders:
        now = another_order(now)
        seen.append(now)
    assert set(seen) == orders
    assert seen[-1] == needs


@given(st.lists(NEED, min_size=1, max_size=5).map(tuple))
@settings(max_examples=100, deadline=None)
def test_one_jump_is_the_next_in_the_dictionary(needs):
    orders = sorted(set(permutations(needs)))
    assert another_order(needs, 1) == orders[(orders.index(needs) + 1) % len(orders)]
    assert another_order(needs, 0) == needs


# Wrong arguments

WRONG = [
    ((), 3, "number of travellers", "0", "1 to 12"),
    ((1,) * 13, 3, "number of travellers", "13", "1 to 12"),
    ((6, 0), 3, "need", "0", "1 to 12"),
    ((6, 13), 3, "need", "13", "1 to 12"),
    ((6, -1), 3, "need", "-1", "1 to 12"),
    ((6, 2.0), 3, "need", "2.0", "whole number"),
    ((6, True), 3, "need", "True", "whole number"),
    ((6, "2"), 3, "need", "'2'", "whole number"),
    ((6, 2), 0, "windows", "0", "1 to 6"),
    ((6, 2), 7, "windows", "7", "1 to 6"),
    ((6, 2), None, "windows", "None", "whole number"),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("needs", "windows", "name", "value", "wanted"), WRONG)
def test_a_wrong_argument_is_refused_by_name_value_and_range(rule, needs, windows, name, value, wanted):
    with pytest.raises(ValueError, match=name) as refused:
        RULES[rule](needs, windows)
    assert value in str(refused.value)
    assert wanted in str(refused.value)


@pytest.mark.parametrize("rule", RULES)
def test_the_callers_list_is_left_alone(rule):
    needs = [6, 2, 3, 2, 1, 2]
    RULES[rule](needs, 3)
    another_order(needs)
    assert needs == [6, 2, 3, 2, 1, 2]
