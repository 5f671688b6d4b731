"""The station's sizes, travellers and evenings, the names of travellers, and the scattered wall."""

from __future__ import annotations

from itertools import islice, product
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import paper, station
from sim.station import label, scattered


def test_the_sizes_that_the_text_fixes():
    assert (station.LOCKERS, station.LIMIT, station.WINDOWS) == (60, 12, 3)
    assert station.MOST_TRAVELLERS == 36
    assert station.LOCKERS % station.LIMIT == 0


def test_the_luggage_of_one_traveller_grows_to_the_limit_and_passes_the_example():
    assert station.GROWTH == (3, 5, 8, 10, 12)
    assert [station.LIMIT - items for items in station.GROWTH] == [9, 7, 4, 2, 0]
    assert list(station.GROWTH) == sorted(set(station.GROWTH))


def test_the_evenings():
    totals = {name: sum(luggage) for name, luggage in station.EVENINGS.items()}
    assert totals == {"friday": 39, "light": 11, "exact": 60, "over": 65, "full": 72, "queue": 73}
    assert station.EVENINGS["friday"] == (8, 5, 10, 3, 7, 6)
    assert station.EVENINGS["light"] == (2, 1, 3, 1, 2, 2)
    assert station.EVENINGS["over"] == (12, 11, 12, 10, 11, 9)
    assert station.EVENINGS["queue"] == (12, 11, 12, 10, 11, 9, 3, 1, 4)
    for luggage in station.EVENINGS.values():
        assert all(1 <= items <= station.LIMIT for items in luggage)


def test_the_rounds_that_the_travellers_need():
    assert station.NEEDS == (6, 2, 3, 2, 1, 2)


def test_labels_go_on_after_z_as_columns_do():
    assert [label(i) for i in range(26)] == list(ascii_uppercase)
    assert [label(i) for i in (26, 35)] == ["AA", "AJ"]
    lengths = (map("".join, product(ascii_uppercase, repeat=length)) for length in (1, 2, 3))
    names = [name for words in lengths for name in words]
    assert [label(i) for i in range(len(names))] == names


@pytest.mark.parametrize("index", [-1, -27, 1.5, True, "A", None])
def test_a_label_needs_an_index(index):
    with pytest.raises(ValueError, match="index must be") as refused:
        label(index)
    assert str(index) in str(refused.value)


@given(st.integers(1, 400))
def test_a_scattered_wall_holds_every_locker_once(count):
    assert sorted(scattered(count)) == list(range(1, count + 1))
    assert scattered(count) == scattered(count)


@pytest.mark.parametrize("count", [station.LIMIT, station.LOCKERS])
def test_neighbours_of_a_scattered_wall_lie_apart(count):
    order = scattered(count)
    steps = {abs(later - earlier) for earlier, later in zip(order, islice(order, 1, None), strict=False)}
    assert min(steps) >= count // 3


@pytest.mark.parametrize("count", [0, -5, 2.0, True, "60"])
def test_a_wall_has_at_least_one_locker(count):
    with pytest.raises(ValueError, match="count must be") as refused:
        scattered(count)
    assert str(count) in str(refused.value)


def test_the_published_figures():
    assert paper.TOKEN_STATES == {"max": "20.4", "pow2": "26.8", "oracle": "38.2", "vllm": "96.3"}
    assert (paper.MEAN_BATCH["max"], paper.MEAN_BATCH["vllm"]) == ("7.00", "30.42")
    assert paper.KERNEL_OVERHEAD == ("20", "26")
    assert paper.KV_BYTES_OPT_13B == 819_200 == 800 * 1024
    assert paper.BLOCK_TOKENS == 16
