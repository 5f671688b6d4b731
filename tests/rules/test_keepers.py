"""The two keepers: the lesson's evenings, two naive stations, and what holds for every evening."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sim.keepers import Admission, PagedKeeper, ReservedKeeper, admit
from sim.station import EVENINGS, FRIDAY, GROWTH, LIMIT, LOCKERS, MOST_TRAVELLERS, label, scattered

ITEMS = st.integers(1, LIMIT)
EVENING = st.lists(ITEMS, min_size=1, max_size=MOST_TRAVELLERS)
ORDERS = st.sampled_from(("fcfs", "skip"))
KEEPERS = {
    "reserved": lambda: ReservedKeeper(LOCKERS, LIMIT),
    "paged": lambda: PagedKeeper(LOCKERS, scattered(LOCKERS)),
}


def decide(keeper: str, luggage, order: str = "fcfs") -> Admission:
    return admit(KEEPERS[keeper](), luggage, order)


def counts(result: Admission) -> tuple[int, int, int, int]:
    return len(result.admitted), result.used, result.empty, result.free


# The lesson's evenings: who comes in, lockers used, locked with nothing inside, free

EVENING_FIGURES = {
    "friday": ((5, 33, 27, 0), (6, 39, 0, 21)),
    "light": ((5, 9, 51, 0), (6, 11, 0, 49)),
    "exact": ((5, 50, 10, 0), (6, 60, 0, 0)),
    "over": ((5, 56, 4, 0), (5, 56, 0, 4)),
    "full": ((5, 60, 0, 0), (5, 60, 0, 0)),
}


@pytest.mark.parametrize("evening", EVENING_FIGURES)
def test_the_five_evenings(evening):
    reserved, paged = EVENING_FIGURES[evening]
    for order in ("fcfs", "skip"):
        assert counts(decide("reserved", EVENINGS[evening], order)) == reserved
        assert counts(decide("paged", EVENINGS[evening], order)) == paged


def test_over_sixty_f_needs_nine_and_four_are_free():
    (waiting,) = decide("paged", EVENINGS["over"]).waiting
    assert (label(waiting.traveller), waiting.needs, waiting.free) == ("F", 9, 4)
    assert (waiting.behind, waiting.fits) == (None, False)
    (waiting,) = decide("reserved", EVENINGS["over"]).waiting
    assert (label(waiting.traveller), waiting.needs, waiting.free) == ("F", 12, 0)


def test_first_come_or_whoever_fits():
    queue = EVENINGS["queue"]
    fcfs, skip = decide("paged", queue), decide("paged", queue, "skip")
    assert "".join(label(h.traveller) for h in fcfs.admitted) == "ABCDE"
    assert "".join(label(w.traveller) for w in fcfs.waiting) == "FGHI"
    assert (fcfs.used, fcfs.free) == (56, 4)
    assert [(w.behind, w.fits) for w in fcfs.waiting] == [(None, False), (5, True), (5, True), (5, True)]
    assert "".join(label(h.traveller) for h in skip.admitted) == "ABCDEGH"
    assert "".join(label(w.traveller) for w in skip.waiting) == "FI"
    assert (skip.used, skip.free) == (60, 0)
    assert [(w.behind, w.fits, w.free) for w in skip.waiting] == [(None, False, 4), (None, False, 0)]


def test_six_more_on_friday_are_eight_against_five():
    assert counts(decide("paged", FRIDAY * 2)) == (8, 52, 0, 8)
    assert counts(decide("reserved", FRIDAY * 2)) == (5, 33, 27, 0)


def test_light_luggage_for_all_36_is_32_against_5_and_33_when_whoever_fits_goes_first():
    luggage = EVENINGS["light"] * 6
    assert len(luggage) == MOST_TRAVELLERS
    assert counts(decide("paged", luggage)) == (32, 58, 0, 2)
    assert counts(decide("paged", luggage, "skip"))[:2] == (33, 59)
    assert len(decide("reserved", luggage).admitted) == len(decide("reserved", luggage, "skip").admitted) == 5


@pytest.mark.parametrize(("items", "empty"), [(8, 4), (1, 11), *zip(GROWTH, (9, 7, 4, 2, 0), strict=True)])
def test_one_traveller_under_either_keeper(items, empty):
    reserved = ReservedKeeper(LIMIT, LIMIT).admit(0, items)
    keeper = PagedKeeper(LIMIT, scattered(LIMIT))
    paged = keeper.admit(0, items)
    assert (reserved.items, reserved.empty, reserved.lockers) == (items, empty, tuple(range(1, LIMIT + 1)))
    assert (paged.items, paged.empty, keeper.free) == (items, 0, empty)


def test_the_pages_of_one_traveller_are_no_row():
    lockers = PagedKeeper(LIMIT, scattered(LIMIT)).admit(0, 8).lockers
    assert all(abs(one - next_one) > 1 for one, next_one in pairwise(lockers))


# Against naive stations: a list of lockers with the owner's number written on each


def naive_reserved(luggage, order: str) -> tuple[list[int], list[int | None]]:
    wall: list[int | None] = [None] * LOCKERS
    inside: list[int] = []
    stopped = False
    for traveller in range(len(luggage)):
        starts = [s for s in range(0, LOCKERS - LIMIT + 1, LIMIT) if wall[s : s + LIMIT] == [None] * LIMIT]
        if starts and not stopped:
            wall[starts[0] : starts[0] + LIMIT] = [traveller] * LIMIT
            inside.append(traveller)
        elif order == "fcfs":
            stopped = True
    return inside, wall


def naive_paged(luggage, order: str) -> tuple[list[int], list[int | None]]:
    wall: list[int | None] = [None] * LOCKERS
    inside: list[int] = []
    stopped = False
    for traveller, items in enumerate(luggage):
        free = [n for n in scattered(LOCKERS) if wall[n - 1] is None]
        if len(free) >= items and not stopped:
            for number in free[:items]:
                wall[number - 1] = traveller
            inside.append(traveller)
        elif order == "fcfs":
            stopped = True
    return inside, wall


NAIVE = {"reserved": naive_reserved, "paged": naive_paged}


def wall_of(result: Admission) -> list[int | None]:
    wall: list[int | None] = [None] * LOCKERS
    for holding in result.admitted:
        for number in holding.lockers:
            assert wall[number - 1] is None, f"locker {number} has two owners"
            wall[number - 1] = holding.traveller
    return wall


@pytest.mark.parametrize("keeper", KEEPERS)
@given(luggage=EVENING, order=ORDERS)
@settings(max_examples=200, deadline=None)
def test_the_wall_is_the_naive_one(keeper, luggage, order):
    result = decide(keeper, luggage, order)
    inside, wall = NAIVE[keeper](luggage, order)
    assert [held.traveller for held in result.admitted] == inside
    assert wall_of(result) == wall


@pytest.mark.parametrize("keeper", KEEPERS)
def test_every_evening_of_six_with_little_some_or_all(keeper):
    for luggage in product((1, 7, 9, 12), repeat=6):
        result = decide(keeper, luggage)
        assert [held.traveller for held in result.admitted] == NAIVE[keeper](luggage, "fcfs")[0]
        assert result.used + result.empty + result.free == LOCKERS


# What holds for every evening


@pytest.mark.parametrize("keeper", KEEPERS)
@given(luggage=EVENING, order=ORDERS)
@settings(max_examples=200, deadline=None)
def test_every_locker_and_every_traveller_is_counted_once(keeper, luggage, order):
    result = decide(keeper, luggage, order)
    assert result.capacity == LOCKERS == result.used + result.empty + result.free
    owners = Counter(wall_of(result))
    assert owners[None] == result.free >= 0
    assert all(owners[held.traveller] == held.items + held.empty for held in result.admitted)
    inside = [held.traveller for held in result.admitted]
    outside = [one.traveller for one in result.waiting]
    assert inside == sorted(inside)
    assert outside == sorted(outside)
    assert sorted(inside + outside) == list(range(len(luggage)))
    assert [held.items for held in result.admitted] == [luggage[i] for i in inside]
    assert [one.items for one in result.waiting] == [luggage[i] for i in outside]


@given(luggage=EVENING, order=ORDERS)
@settings(max_examples=200, deadline=None)
def test_a_reservation_is_a_row_of_twelve_from_a_multiple_of_twelve(luggage, order):
    result = decide("reserved", luggage, order)
    for held in result.admitted:
        first = held.lockers[0]
        assert first % LIMIT == 1
        assert held.lockers == tuple(range(first, first + LIMIT))
        assert held.empty == LIMIT - held.items
    assert result.free == LOCKERS - LIMIT * len(result.admitted)


@given(luggage=EVENING, order=ORDERS)
@settings(max_examples=200, deadline=None)
def test_pages_are_never_locked_empty(luggage, order):
    result = decide("paged", luggage, order)
    assert result.empty == 0
    assert result.used == sum(held.items for held in result.admitted)
    assert all(len(held.lockers) == held.items for held in result.admitted)


@pytest.mark.parametrize("keeper", KEEPERS)
@given(luggage=EVENING, order=ORDERS)
@settings(max_examples=200, deadline=None)
def test_whoever_waits_does_so_for_the_reason_given(keeper, luggage, order):
    result = decide(keeper, luggage, order)
    for place, one in enumerate(result.waiting):
        assert one.needs == (LIMIT if keeper == "reserved" else luggage[one.traveller])
        before = [held for held in result.admitted if held.traveller < one.traveller]
        assert one.free == LOCKERS - sum(len(held.lockers) for held in before)
        assert one.fits == (one.needs <= one.free)
        assert one.behind == (result.waiting[0].traveller if place and order == "fcfs" else None)
        assert one.behind is not None or not one.fits


@given(luggage=EVENING, order=ORDERS)
@settings(max_examples=200, deadline=None)
def test_paging_admits_no_fewer(luggage, order):
    reserved, paged = decide("reserved", luggage, order), decide("paged", luggage, order)
    assert len(reserved.admitted) == min(len(luggage), LOCKERS // LIMIT)
    assert len(paged.admitted) >= len(reserved.admitted)


@pytest.mark.parametrize("keeper", KEEPERS)
@given(luggage=EVENING, items=ITEMS, data=st.data())
@settings(max_examples=100, deadline=None)
def test_what_the_last_who_waits_brings_changes_nothing_for_others(keeper, luggage, items, data):
    result = decide(keeper, luggage)
    if len(result.waiting) < 2:
        return
    one = data.draw(st.sampled_from(result.waiting[1:]))
    changed = [*luggage]
    changed[one.traveller] = items
    after = decide(keeper, changed)
    assert after.admitted == result.admitted
    others = [w for w in result.waiting if w.traveller != one.traveller]
    assert [w for w in after.waiting if w.traveller != one.traveller] == others


@given(cuts=st.lists(st.integers(0, 11), min_size=6, max_size=6).map(sorted))
@settings(max_examples=100, deadline=None)
def test_over_sixty_both_store_the_same(cuts):
    luggage = [LIMIT - (later - earlier) for earlier, later in pairwise([0, *cuts])]
    assert LOCKERS < sum(luggage) <= 6 * LIMIT
    reserved, paged = decide("reserved", luggage), decide("paged", luggage)
    assert len(reserved.admitted) == len(paged.admitted) == 5
    assert reserved.used == paged.used
    assert reserved.empty == paged.free == sum(LIMIT - items for items in luggage[:5])


# A station that runs: people come, bring more, and leave


class PagedStation(RuleBasedStateMachine):
    """The paged keeper against a dictionary of lists."""

    def __init__(self):
        super().__init__()
        self.keeper = PagedKeeper(16, scattered(16))
        self.tables: dict[int, list[int]] = {}
        self.next = 0

    def held(self) -> list[int]:
        return [locker for table in self.tables.values() for locker in table]

    @rule(items=st.integers(1, 16))
    def come(self, items):
        if self.keeper.can_admit(items):
            holding = self.keeper.admit(self.next, items)
            assert len(holding.lockers) == items
            self.tables[self.next] = list(holding.lockers)
        else:
            assert items > 16 - len(self.held())
            with pytest.raises(ValueError, match=f"needs {items} lockers, only {16 - len(self.held())} free"):
                self.keeper.admit(self.next, items)
        self.next += 1

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def bring_more(self, data):
        one = data.draw(st.sampled_from(sorted(self.tables)))
        if len(self.held()) == 16:
            with pytest.raises(ValueError, match="only 0 free"):
                self.keeper.append(one)
        else:
            self.tables[one].append(self.keeper.append(one))

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def leave(self, data):
        one = data.draw(st.sampled_from(sorted(self.tables)))
        self.keeper.leave(one)
        del self.tables[one]

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def come_twice(self, data):
        one = data.draw(st.sampled_from(sorted(self.tables)))
        with pytest.raises(ValueError, match=f"traveller {one} "):
            self.keeper.admit(one, 1)

    @rule(items=st.sampled_from((0, -1, 17, 1.0, True, "3", None)))
    def bring_nonsense(self, items):
        with pytest.raises(ValueError, match="items must be") as refused:
            self.keeper.admit(self.next, items)
        assert str(items) in str(refused.value)

    @rule()
    def ask_of_nobody(self):
        for act in (self.keeper.append, self.keeper.leave):
            with pytest.raises(ValueError, match="traveller 999 is not in"):
                act(999)

    @invariant()
    def tables_are_as_written_and_nothing_is_lost(self):
        assert {one: list(table.blocks) for one, table in self.keeper.tables.items()} == self.tables
        held = self.held()
        assert len(set(held)) == len(held)
        assert set(held) <= set(range(1, 17))
        assert self.keeper.free == 16 - len(held)


PagedStation.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestPagedStation = PagedStation.TestCase


def test_the_table_that_runs_out_says_so_and_b_leaving_changes_nothing_for_a():
    keeper = PagedKeeper(16, scattered(16))
    for traveller, items in enumerate((5, 3, 4)):
        keeper.admit(traveller, items)
    before = keeper.tables[0].blocks
    for _ in range(4):
        keeper.append(0)
    assert keeper.tables[0].blocks[:5] == before
    with pytest.raises(ValueError, match="needs 1 locker, only 0 free"):
        keeper.append(0)
    grown = keeper.tables[0].blocks
    keeper.leave(1)
    assert (keeper.free, keeper.tables[0].blocks) == (3, grown)


# Wrong arguments


@pytest.mark.parametrize("keeper", KEEPERS)
@pytest.mark.parametrize("items", [0, -3, 61, 2.5, True, "8", None])
def test_luggage_out_of_range_is_refused_and_nobody_is_let_in(keeper, items):
    one = KEEPERS[keeper]()
    with pytest.raises(ValueError, match="items must be") as refused:
        admit(one, [5, 5, items])
    assert str(items) in str(refused.value)
    assert one.free == LOCKERS
    for ask in (one.needs, one.can_admit, lambda given: one.admit(0, given)):
        with pytest.raises(ValueError, match="items must be"):
            ask(items)
    assert one.free == LOCKERS


def test_more_than_the_limit_is_refused_by_the_reserved_keeper_alone():
    with pytest.raises(ValueError, match="items must be from 1 to 12, got 13"):
        decide("reserved", [13])
    assert decide("paged", [13]).used == 13


@pytest.mark.parametrize("order", ["", "FCFS", "shortest", None, 1, ["fcfs"]])
def test_an_unknown_order_is_refused(order):
    for keeper in KEEPERS:
        one = KEEPERS[keeper]()
        with pytest.raises(ValueError, match="order") as refused:
            admit(one, FRIDAY, order)
        assert repr(order) in str(refused.value)
        assert one.free == LOCKERS


@pytest.mark.parametrize("limit", [0, -1, 61, 2.5, True, "12"])
def test_a_limit_lies_within_the_wall(limit):
    with pytest.raises(ValueError, match="limit must be") as refused:
        ReservedKeeper(LOCKERS, limit)
    assert str(limit) in str(refused.value)


@pytest.mark.parametrize("capacity", [0, -60, 60.0, True, "60", None])
def test_a_wall_has_lockers(capacity):
    for make in (lambda: PagedKeeper(capacity), lambda: ReservedKeeper(capacity, 12)):
        with pytest.raises(ValueError, match="capacity must be") as refused:
            make()
        assert str(capacity) in str(refused.value)


@pytest.mark.parametrize("order", [[1, 2], [1, 2, 2], [0, 1, 2], [1, 2, 4], []])
def test_a_free_order_holds_every_locker_once(order):
    with pytest.raises(ValueError, match="free_order"):
        PagedKeeper(3, order)


def test_a_full_wall_of_reservations_refuses_with_the_figures():
    keeper = ReservedKeeper(30, 12)
    keeper.admit(0, 1)
    keeper.admit(1, 12)
    assert (keeper.free, keeper.can_admit(1)) == (6, False)
    with pytest.raises(ValueError, match="traveller 2 needs 12 lockers in a row, only 6 free"):
        keeper.admit(2, 1)
    assert keeper.free == 6


@pytest.mark.parametrize("keeper", KEEPERS)
def test_nobody_comes_in_twice(keeper):
    one = KEEPERS[keeper]()
    one.admit(7, 3)
    free = one.free
    with pytest.raises(ValueError, match="traveller 7 is already in"):
        one.admit(7, 3)
    assert one.free == free


def test_nobody_is_the_keeper_of_the_callers_list():
    luggage = [8, 5, 10]
    for keeper in KEEPERS:
        decide(keeper, luggage)
    assert luggage == [8, 5, 10]
