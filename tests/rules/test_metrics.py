"""The run of traffic through a policy: its clock, its latencies, its exact shares."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cost import IN_STEPS, StepCost
from sim.engine import EngineConfig, Scheduler
from sim.ladder import LADDER, LadderConfig
from sim.metrics import PARTS, Run, fixed, percentages, run, share_percentages
from sim.policy import Request, Shares, Step
from tests.rules.naive_ladder import random_world

COST = StepCost(base=10, per_token=1, per_second=100)
SMALL = LadderConfig(slots=64, block_size=4, max_model_len=32)


def test_a_run_by_hand() -> None:
    """a: 4 in, 3 out at 0. b: 2 in, 2 out at 5, comes in with a's second token.

    Steps: a's prefill 0..14; a's 1 token and b's 2 from 14 to 27; a and b 27 to 39: both end.
    """
    traffic = [Request("b", range(2), 2, 5), Request("a", range(4), 3, 0)]
    report = run(LADDER["orca-max"](SMALL), traffic, COST)
    assert [(one.start, one.duration, one.tokens, one.running) for one in report.moments] == [
        (0, 14, 4, 1),
        (14, 13, 3, 2),
        (27, 12, 2, 2),
    ]
    a, b = report.lives
    assert (a.id, a.arrived, a.admitted, a.first, a.last, a.returned) == ("a", 0, 0, 14, 39, 39)
    assert (b.id, b.arrived, b.admitted, b.first, b.last, b.returned) == ("b", 5, 14, 27, 39, 39)
    assert (a.queueing, a.ttft, a.tpot, a.latency, a.normalised) == (0, 14, Fraction(25, 2), 39, 13)
    assert (b.queueing, b.ttft, b.tpot, b.latency, b.normalised) == (9, 22, 12, 34, 17)
    assert report.mean_queueing == Fraction(9, 2)
    assert report.mean_ttft == 18
    assert report.mean_tpot == Fraction(49, 4)
    assert report.mean_latency == Fraction(73, 2)
    assert report.mean_normalised == 15
    assert report.throughput == Fraction(5 * 100, 39)
    assert report.request_throughput == Fraction(2 * 100, 39)
    assert (report.finished, report.preemptions, report.stuck, report.clock) == (2, 0, False, 39)
    assert (report.mean_running(), report.mean_running(1), report.mean_running(3)) == (
        Fraction(5, 3),
        2,
        None,
    )
    assert report.mean_scheduled(1) == 2


def test_the_same_by_hand_when_the_batch_returns_together() -> None:
    """Static: b waits for a's batch, returned at 14 + 11 + 11 = 36; a's reader sees nothing before."""
    traffic = [Request("a", range(4), 3, 0), Request("b", range(2), 2, 5)]
    a, b = run(LADDER["static"](SMALL), traffic, COST).lives
    assert (a.first, a.shown, a.ttft, a.tpot, a.latency) == (14, 36, 36, 11, 36)
    assert (b.admitted, b.queueing, b.first, b.returned) == (36, 31, 48, 59)


def test_time_jumps_to_the_next_arrival() -> None:
    traffic = [Request("a", (1,), 1, 0), Request("b", (1,), 1, 1000.5)]
    report = run(LADDER["orca-max"](SMALL), traffic, COST)
    assert [one.start for one in report.moments] == [0, Fraction(2001, 2)]
    assert report.lives[1].queueing == 0
    assert report.clock == Fraction(2001, 2) + 11


def test_an_id_may_come_again_after_its_end() -> None:
    traffic = [Request("a", (1,), 1, 0), Request("a", (1,), 2, 500)]
    report = run(LADDER["vllm-0.33"](SMALL), traffic, COST)
    assert [life.answers for life in report.lives] == [1, 2]


def test_an_empty_run_has_no_means() -> None:
    report = run(LADDER["static"](SMALL), [], COST)
    assert report.moments == ()
    means = (
        report.mean_ttft,
        report.mean_tpot,
        report.mean_queueing,
        report.mean_latency,
        report.mean_normalised,
    )
    assert means == (None,) * 5
    assert (report.throughput, report.request_throughput, report.mean_shares()) == (None, None, None)


def test_one_answer_token_has_no_time_per_token() -> None:
    report = run(LADDER["orca-max"](SMALL), [Request("a", (1,), 1)], COST)
    assert report.lives[0].tpot is None
    assert report.mean_tpot is None


def test_a_policy_that_can_never_serve_is_called_stuck() -> None:
    """vLLM takes a request that outgrows the pool, and blocks on it for ever."""
    engine = Scheduler(EngineConfig(block_size=1, num_blocks=5, max_model_len=20, max_num_batched_tokens=64))
    report = run(engine, [Request("huge", range(8), 2), Request("small", (1,), 1)], IN_STEPS)
    assert report.stuck
    assert report.finished == 0
    assert len(report.moments) == 3


def test_somebody_to_come_is_waited_for_before_calling_it_stuck() -> None:
    engine = Scheduler(EngineConfig(block_size=1, num_blocks=5, max_model_len=20, max_num_batched_tokens=64))
    going = Run(engine, [Request("huge", range(8), 2), Request("late", (1,), 1, 100)], IN_STEPS)
    for _ in range(4):
        going.step()
        assert not going.stuck
    assert going.clock == 101
    while not going.over:
        going.step()
    with pytest.raises(ValueError, match="the run is over after 6 steps"):
        going.step()


def test_most_steps_ends_a_run() -> None:
    policy = LADDER["orca-max"](SMALL)
    report = run(policy, [Request("a", (1,), 9)], COST, most_steps=4)
    assert (len(report.moments), report.finished, report.lives[0].answers) == (4, 0, 4)
    with pytest.raises(ValueError, match="most_steps must be at least 1, got 0"):
        run(policy, [], COST, most_steps=0)


@pytest.mark.parametrize("name", LADDER)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_run_only_loops_over_step(name: str, seed: int) -> None:
    world = random_world(seed)
    config = LadderConfig(slots=200, block_size=4, max_model_len=24, max_num_seqs=4)
    traffic = [request for _, request in world.arrivals]
    going = Run(LADDER[name](config), traffic, COST)
    steps = 0
    while not going.over:
        going.step()
        steps += 1
    report = run(LADDER[name](config), traffic, COST)
    assert going.report() == report
    assert len(report.moments) == steps
    assert sum(one.answers for one in report.moments) == sum(life.answers for life in report.lives)
    for before, after in pairwise(report.moments):
        assert before.start + before.duration <= after.start
    for life in report.lives:
        assert life.arrived <= life.admitted < life.first <= life.last <= life.returned  # type: ignore[operator]
    shares = report.mean_shares()
    assert shares is not None
    assert sum(shares) == 1
    assert all(sum(map(Fraction, share_percentages(one.shares, 2))) == 100 for one in report.moments)


@pytest.mark.parametrize("name", LADDER)
@pytest.mark.parametrize("seed", range(8))
def test_a_moment_is_what_is_seen_amid_the_step(name: str, seed: int) -> None:
    policy: Any = LADDER[name](LadderConfig(slots=40, block_size=2, max_model_len=20, max_num_seqs=4))
    seen = []
    update = policy.update

    def look_and_update() -> Step:
        seen.append((len(policy.running), len(policy.waiting), policy.shares()))
        return update()

    policy.update = look_and_update
    traffic = [request for _, request in random_world(seed).arrivals if len(request.prompt) < 16]
    moments = run(policy, traffic, COST).moments
    assert [(one.running, one.waiting, one.shares) for one in moments] == seen


@pytest.mark.parametrize("name", ["vllm-0.33"])
def test_an_asynchronous_engine_runs_too(name: str) -> None:
    engine = Scheduler(EngineConfig(async_scheduling=True))
    report = run(engine, [Request("a", range(5), 3), Request("b", range(5), 2, 50)], COST)
    assert (report.finished, report.stuck) == (2, False)
    assert [life.answers for life in report.lives] == [3, 2]


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"base": 0}, "base"),
        ({"per_token": -1}, "per_token"),
        ({"per_second": 0}, "per_second"),
        ({"base": 1.5}, "base"),
    ],
)
def test_a_cost_is_in_whole_units(setting: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named} must be"):
        StepCost(**setting)


def test_a_step_costs_its_base_and_its_tokens() -> None:
    assert StepCost(base=7, per_token=3).duration(5) == 22
    assert IN_STEPS.duration(1000) == 1
    with pytest.raises(ValueError, match="tokens must be at least 0, got -1"):
        COST.duration(-1)


# Figures as text


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**9) | st.fractions(0, 10**6), min_size=1, max_size=9), st.integers(0, 6))
def test_percentages_sum_to_exactly_100(parts: list[Fraction | int], decimals: int) -> None:
    if not any(parts):
        with pytest.raises(ValueError, match="not all 0"):
            percentages(parts, decimals)
        return
    shown = [Fraction(text) for text in percentages(parts, decimals)]
    total = sum(parts, Fraction(0))
    assert sum(shown) == 100
    assert all(
        abs(text - 100 * part / total) < Fraction(1, 10**decimals)
        for text, part in zip(shown, parts, strict=True)
    )


def test_percentages_give_what_is_missing_to_the_largest_remainder() -> None:
    assert percentages((1, 1, 1)) == ("33.4", "33.3", "33.3")
    assert percentages((1, 2, 3), 0) == ("17", "33", "50")
    assert percentages((0, 5), 2) == ("0.00", "100.00")
    assert percentages((Fraction(1, 3), Fraction(2, 3)), 3) == ("33.333", "66.667")
    with pytest.raises(ValueError, match="at least 0"):
        percentages((-1, 2))
    with pytest.raises(ValueError, match="decimals must be from 0 to 12, got 13"):
        percentages((1,), 13)


def test_shares_as_percentages_follow_the_order_of_parts() -> None:
    assert PARTS == ("holding", "reserved", "internal", "external", "free")
    assert share_percentages(Shares(1, 2, 3, 4, 10)) == ("5.0", "10.0", "15.0", "20.0", "50.0")


@settings(deadline=None)
@given(st.fractions(-(10**6), 10**6), st.integers(0, 8))
def test_fixed_is_the_nearest_text(value: Fraction, decimals: int) -> None:
    text = fixed(value, decimals)
    assert abs(Fraction(text) - value) <= Fraction(1, 2 * 10**decimals)
    assert len(text.partition(".")[2]) == decimals
    assert text.lstrip("-") == fixed(-value, decimals).lstrip("-")


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (Fraction(1, 2), 0, "1"),
        (Fraction(-1, 2), 0, "-1"),
        (Fraction(1, 200), 2, "0.01"),
        (Fraction(-1, 1000), 2, "0.00"),
        (12, 1, "12.0"),
        (Fraction(15728 - 14336, 15728) * 100, 2, "8.85"),
    ],
)
def test_fixed_examples(value: Fraction | int, decimals: int, text: str) -> None:
    assert fixed(value, decimals) == text
