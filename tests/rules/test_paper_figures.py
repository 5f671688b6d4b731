"""The PagedAttention paper's memory figures (Fig 2, Fig 13), from saturated queues of synthetic lengths.

Exact where the figure does not depend on lengths; elsewhere within a tolerance, for the stated lognormal
shape (coefficients of variation 1.4 for prompts, 1.0 for answers), the mean of three seeds. Orderings have
to hold for every shape. The paper's vLLM is v0. Known to be off: Pow2's external share is too small (the
authors' buddy allocator is not known in detail), and vLLM's batch is high, as a saturated queue keeps it
fuller than 2 requests a second.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import pytest

from sim.cost import IN_STEPS
from sim.ladder import LADDER, Halved, LadderConfig
from sim.metrics import PARTS, run
from sim.policy import Request
from sim.traffic import LENGTHS, lengths_of, saturated

FOUR = ("orca-max", "orca-pow2", "orca-oracle", "vllm-v0")
SEEDS = (1, 2, 3)
MACHINE = LadderConfig(enable_prefix_caching=False)
LENGTH_OF_RUN = {
    "sharegpt": (8000, 2000, 2000),
    "alpaca": (800, 250, 3000),
}  # steps, of them left out, requests


class Measured(NamedTuple):
    """Means over the steps of a run: percent of the memory by part, and running requests."""

    tokens: float
    reserved: float
    internal: float
    external: float
    free: float
    batch: float


@cache
def traffic(data: str, shape: str, seed: int) -> tuple[Request, ...]:
    return saturated(lengths_of(data, shape), LENGTH_OF_RUN[data][2], seed)


@cache
def measured(name: str, data: str, shape: str, seed: int) -> Measured:
    """One run; the queue has to be full to its end. Other shapes run half as long."""
    steps, skip, _ = LENGTH_OF_RUN[data]
    if shape != "lognormal":
        steps, skip = steps // 2, skip // 2
    report = run(LADDER[name](MACHINE), traffic(data, shape, seed), IN_STEPS, most_steps=steps)
    assert min(moment.waiting for moment in report.moments) > 0
    assert all(moment.shares.capacity == report.capacity for moment in report.moments)
    shares, batch = report.mean_shares(skip), report.mean_running(skip)
    assert shares is not None
    assert batch is not None
    assert sum(shares) == 1
    return Measured(*(float(100 * share) for share in shares), float(batch))


def mean(name: str, data: str, part: str) -> float:
    """Mean over the seeds, for the lognormal shape."""
    return sum(getattr(measured(name, data, "lognormal", seed), part) for seed in SEEDS) / len(SEEDS)


# Exact, whatever the lengths


@pytest.mark.parametrize("data", LENGTHS)
@pytest.mark.parametrize("seed", SEEDS)
def test_max_runs_seven_and_loses_the_rest_in_every_step(data: str, seed: int) -> None:
    report = run(LADDER["orca-max"](MACHINE), traffic(data, "lognormal", seed), IN_STEPS, most_steps=400)
    assert MACHINE.slots == 12 * 2**30 // 819_200 == 15_728
    assert {moment.running for moment in report.moments} == {15_728 // 2_048} == {7}
    assert {moment.shares.external for moment in report.moments} == {1_392}
    assert {moment.shares.free for moment in report.moments} == {0}


@pytest.mark.parametrize("data", LENGTHS)
def test_the_oracle_has_no_internal_fragmentation_and_nobody_free(data: str) -> None:
    report = run(LADDER["orca-oracle"](MACHINE), traffic(data, "lognormal", 1), IN_STEPS, most_steps=400)
    assert {moment.shares.internal for moment in report.moments} == {0}
    assert {moment.shares.free for moment in report.moments} == {0}


@pytest.mark.parametrize("data", LENGTHS)
@pytest.mark.parametrize("name", ["vllm-v0", "vllm-0.11", "vllm-0.33"])
def test_vllm_wastes_less_than_a_block_for_each_request(name: str, data: str) -> None:
    report = run(LADDER[name](MACHINE), traffic(data, "lognormal", 1), IN_STEPS, most_steps=150)
    for moment in report.moments:
        assert moment.shares.internal <= 15 * moment.running
        assert (moment.shares.reserved, moment.shares.external) == (0, 0)


# Figure 2 and figure 13a: ShareGPT lengths


@pytest.mark.parametrize(
    ("name", "part", "paper", "tolerance"),
    [
        ("orca-max", "tokens", 20.4, 3),
        ("orca-max", "reserved", 13.3, 3),
        ("orca-max", "internal", 57.3, 6),
        ("orca-max", "external", 8.9, 0.06),
        ("orca-max", "batch", 7.00, 0),
        ("orca-pow2", "tokens", 26.8, 4),
        ("orca-pow2", "batch", 9.81, 0.981),
        ("orca-oracle", "tokens", 38.2, 3),
        ("orca-oracle", "external", 36.6, 5),
        ("orca-oracle", "batch", 13.62, 0.18 * 13.62),
        ("vllm-v0", "tokens", 96.3, 2),
        ("vllm-v0", "batch", 30.42, 0.15 * 30.42),
    ],
)
def test_figures_2_and_13a(name: str, part: str, paper: float, tolerance: float) -> None:
    assert mean(name, "sharegpt", part) == pytest.approx(paper, abs=tolerance)


def test_pow2_loses_most_to_the_allocator() -> None:
    external = mean("orca-pow2", "sharegpt", "external")
    assert external > 28
    assert external > mean("orca-pow2", "sharegpt", "internal")


def test_ratios_of_the_batches() -> None:
    vllm = mean("vllm-v0", "sharegpt", "batch")
    assert 2.0 < vllm / mean("orca-oracle", "sharegpt", "batch") < 3.2
    assert 4.0 < vllm / mean("orca-max", "sharegpt", "batch") < 5.0


def test_vllm_0_33_uses_as_much_as_v0() -> None:
    """The same memory, chunked prefill or not. Looked at in every 20th step."""
    engine: Halved = LADDER["vllm-0.33"](MACHINE)
    for request in traffic("sharegpt", "lognormal", 1):
        engine.add(request)
    tokens, batches = [], []
    for number in range(5000):
        engine.schedule()
        if number >= 2000 and number % 20 == 0:
            tokens.append(Fraction(100 * engine.shares().holding, engine.capacity))
            batches.append(len(engine.running))
        engine.update()
    assert engine.waiting
    assert float(sum(tokens) / len(tokens)) == pytest.approx(96.3, abs=2)
    assert sum(batches) / len(batches) == pytest.approx(30.42, rel=0.25)  # one seed, and a short run


# Orderings, for every shape


@pytest.mark.parametrize("data", LENGTHS)
@pytest.mark.parametrize("shape", LENGTHS["sharegpt"])
def test_each_rung_uses_more_than_the_one_before(data: str, shape: str) -> None:
    rungs = [measured(name, data, shape, 1) for name in FOUR]
    for lower, upper in pairwise(rungs):
        assert lower.tokens < upper.tokens
        assert lower.batch < upper.batch
    assert rungs[2].tokens < 45  # even the oracle wastes more than 55 %
    assert rungs[3].tokens > 85


# Alpaca: figure 13b


@pytest.mark.parametrize(
    ("name", "paper", "part_off"),
    [("orca-max", 7.00, 0), ("orca-pow2", 43.24, 0.25), ("orca-oracle", 72.75, 0.20)],
)
def test_figure_13b(name: str, paper: float, part_off: float) -> None:
    assert mean(name, "alpaca", "batch") == pytest.approx(paper, rel=part_off, abs=0)


def test_a_saturated_vllm_runs_at_least_as_many_as_at_30_requests_a_second() -> None:
    """One-sided: in the paper's run vLLM's memory was not full."""
    assert mean("vllm-v0", "alpaca", "batch") >= 132


# Block size: figure 18b, direction only


def test_large_blocks_leave_more_of_their_last_one_empty() -> None:
    tokens = []
    for size in (1, 16, 64, 256):
        config = LadderConfig(block_size=size, enable_prefix_caching=False)
        report = run(
            LADDER["vllm-v0"](config), traffic("sharegpt", "lognormal", 1), IN_STEPS, most_steps=2500
        )
        shares = report.mean_shares(500)
        assert shares is not None
        tokens.append(float(100 * shares[PARTS.index("holding")]))
    assert tokens == sorted(tokens, reverse=True)
    assert tokens == pytest.approx([98.8, 97.2, 92.2, 76.9], abs=3)
