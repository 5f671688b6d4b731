"""The small evening of the engine map: against a naive engine, and what holds in every round."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.events import AdmittedEvent, Arrived, BlockTaken, FinishedEvent, PreemptedEvent, WaitingEvent
from sim.station import LOCKERS, WINDOWS
from sim.workload import BLOCK_TOKENS, EVENING, Visitor, play

ROUNDS = play()
KINDS = (Arrived, AdmittedEvent, FinishedEvent, WaitingEvent, BlockTaken, PreemptedEvent)


def blocks(tokens: int) -> int:
    return -(-tokens // BLOCK_TOKENS)


def naive(evening, windows: int, lockers: int) -> list[tuple[dict[str, int], list[str], int]]:
    """(answer tokens of each who runs, who waits, lockers held) round by round, for evenings that fit."""
    queue: list[Visitor] = []
    running: list[list] = []  # visitor, answers so far
    told = []
    number = 0
    while number == 0 or queue or running or number < max(one.arrival for one in evening):
        number += 1
        queue += [one for one in evening if one.arrival == number]
        held = sum(blocks(one.prompt + had) for one, had in running)
        while queue and len(running) < windows and held + blocks(queue[0].prompt) <= lockers:
            one = queue.pop(0)
            held += blocks(one.prompt)
            running.append([one, 0])
        for run in running:
            run[1] += 1
        told.append(({one.name: had for one, had in running}, [one.name for one in queue], held))
        running = [run for run in running if run[1] < run[0].answers]
    return told


def pictured(rounds) -> list[tuple[dict[str, int], list[str], int]]:
    return [({one.name: one.answers for one in r.running}, list(r.waiting), r.used) for r in rounds[1:]]


def test_the_stated_evening_is_the_naive_one():
    assert pictured(ROUNDS) == naive(EVENING, WINDOWS, LOCKERS)


@st.composite
def evenings(draw):
    """Up to six visitors whose longest lives all fit on the wall together, so that nobody is thrown out."""
    count = draw(st.integers(1, 6))
    arrivals = sorted(draw(st.lists(st.integers(1, 8), min_size=count, max_size=count)))
    lives = st.tuples(st.integers(1, 36), st.integers(1, 12))
    return tuple(Visitor("ABCDEF"[i], arrivals[i], *draw(lives)) for i in range(count))


@given(evening=evenings(), windows=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_any_evening_that_fits_is_the_naive_one(evening, windows):
    lockers = max(blocks(one.prompt + one.answers) for one in evening) * windows
    lockers = max(lockers, blocks(max(one.prompt for one in evening)) * windows)
    assert pictured(play(evening, windows, lockers)) == naive(evening, windows, lockers)


def test_the_evening_starts_empty_and_ends_when_all_are_served():
    first, last = ROUNDS[0], ROUNDS[-1]
    assert (first.running, first.waiting, first.used, first.free, first.tokens) == ((), (), 0, LOCKERS, 0)
    assert last.waiting == ()
    assert all(one.done for one in last.running)
    assert last.tokens == sum(visitor.answers for visitor in EVENING) == 40
    assert len(ROUNDS) - 1 == 16


def test_every_locker_is_used_or_free_and_has_one_owner():
    for now in ROUNDS:
        held = [block for one in now.running for block in one.blocks]
        assert len(held) == len(set(held)) == now.used
        assert set(held) <= set(range(1, LOCKERS + 1))
        assert now.used + now.free == LOCKERS


def test_a_table_only_grows_at_its_end():
    for before, after in pairwise(ROUNDS):
        tables = {one.name: one.blocks for one in after.running}
        for one in before.running:
            if not one.done:
                assert tables[one.name][: len(one.blocks)] == one.blocks
                assert 0 <= len(tables[one.name]) - len(one.blocks) <= 1


def test_one_token_each_a_round():
    for before, after in pairwise(ROUNDS):
        assert after.tokens - before.tokens == len(after.running) <= WINDOWS
        had = {one.name: one.answers for one in before.running}
        for one in after.running:
            assert one.answers == had.get(one.name, 0) + 1
            assert one.first == (one.name not in had)
            assert one.done == (one.answers == {v.name: v.answers for v in EVENING}[one.name])


def test_everybody_is_waiting_running_or_gone_and_in_order():
    gone: set[str] = set()
    order = [visitor.name for visitor in EVENING]
    for number, now in enumerate(ROUNDS):
        running = [one.name for one in now.running]
        come = [visitor.name for visitor in EVENING if visitor.arrival <= number]
        assert sorted([*running, *now.waiting, *gone]) == sorted(come)
        assert list(now.waiting) == sorted(now.waiting, key=order.index)
        assert running == sorted(running, key=order.index)
        gone |= {one.name for one in now.running if one.done}


def test_a_window_stands_free_only_for_a_reason():
    prompts = {visitor.name: visitor.prompt for visitor in EVENING}
    for now in ROUNDS[1:]:
        if now.waiting and len(now.running) < WINDOWS:
            assert blocks(prompts[now.waiting[0]]) > now.free


def test_in_round_ten_g_finds_one_locker_too_few():
    now = ROUNDS[10]
    head, behind = [event for event in now.events if isinstance(event, WaitingEvent)]
    assert (head.request, head.why, head.needs, head.free) == ("G", "blocks", 11, 10)
    assert (behind.request, behind.why, behind.behind) == ("H", "behind", "G")


def test_the_events_tell_the_rounds():
    for number, now in enumerate(ROUNDS):
        kinds = {kind: [e for e in now.events if isinstance(e, kind)] for kind in KINDS}
        assert [e.request for e in kinds[Arrived]] == [v.name for v in EVENING if v.arrival == number]
        assert [e.request for e in kinds[AdmittedEvent]] == [one.name for one in now.running if one.first]
        assert [e.request for e in kinds[FinishedEvent]] == [one.name for one in now.running if one.done]
        assert [e.request for e in kinds[WaitingEvent]] == list(now.waiting)
        assert not kinds[PreemptedEvent]
        for event in kinds[BlockTaken]:
            table = next(one.blocks for one in now.running if one.name == event.request)
            assert table[event.page - 1] == event.block


def test_the_run_is_the_same_every_time():
    play.cache_clear()
    assert play() == ROUNDS


@pytest.mark.parametrize(
    ("evening", "windows", "lockers", "said"),
    [
        ((), 3, 60, "number of visitors must be at least 1, got 0"),
        ((Visitor("A", 0, 4, 2),), 3, 60, "arrival must be at least 1, got 0"),
        ((Visitor("A", 1, 4, 2), Visitor("A", 2, 4, 2)), 3, 60, "'A'"),
        ((Visitor("A", 1, 0, 2),), 3, 60, "prompt length must be at least 1, got 0"),
        ((Visitor("A", 1, 4, 0),), 3, 60, "max_tokens must be at least 1, got 0"),
        ((Visitor("A", 1, 400, 2),), 3, 60, "240, got 400"),
        ((Visitor("A", 1, 4, 2),), 0, 60, "at least 1, got 0"),
        ((Visitor("A", 1, 4, 2),), 3, 0, "at least 2, got 1"),
    ],
)
def test_an_evening_that_cannot_be_is_refused(evening, windows, lockers, said):
    with pytest.raises(ValueError, match=said):
        play(evening, windows, lockers)
