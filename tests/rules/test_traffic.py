"""Traffic: the paper's means, and the same requests for the same seed everywhere."""

from __future__ import annotations

import hashlib
import math
from itertools import pairwise

import pytest

from sim.traffic import (
    LENGTHS,
    LONGEST_PROMPT,
    LONGEST_TOTAL,
    MEANS,
    Lengths,
    Shape,
    lengths_of,
    poisson,
    saturated,
)

NAMES = [(data, shape) for data, shapes in LENGTHS.items() for shape in shapes]


def below(shape: Shape, tokens: float) -> float:
    """Probability of a length below `tokens`: the textbook distribution functions."""
    if shape.stages:
        rate = tokens / shape.scale * shape.stages
        terms = math.fsum(rate**k / math.factorial(k) for k in range(shape.stages))
        return 1 - math.exp(-rate) * terms
    return 0.5 * (1 + math.erf(math.log(tokens / shape.scale) / (shape.spread * math.sqrt(2))))


def chances(shape: Shape, longest: int) -> list[float]:
    """Probability of each rounded length 0..longest; the smallest is 1."""
    edges = [0.0] + [below(shape, tokens + 0.5) for tokens in range(1, longest + 1)]
    return [0.0] + [after - before for before, after in pairwise(edges)]


def means(lengths: Lengths) -> tuple[float, float]:
    """Mean prompt and answer of those that are short enough, summed over all pairs."""
    prompt, answer = chances(lengths.prompt, LONGEST_PROMPT), chances(lengths.answer, LONGEST_TOTAL - 1)
    whole, tokens = [0.0], [0.0]
    for length, chance in enumerate(answer[1:], 1):
        whole.append(whole[-1] + chance)
        tokens.append(tokens[-1] + length * chance)
    pairs = [(n, chance, LONGEST_TOTAL - n) for n, chance in enumerate(prompt) if n]
    kept = math.fsum(chance * whole[left] for _, chance, left in pairs)
    prompts = math.fsum(n * chance * whole[left] for n, chance, left in pairs)
    answers = math.fsum(chance * tokens[left] for _, chance, left in pairs)
    return prompts / kept, answers / kept


@pytest.mark.parametrize(("data", "shape"), NAMES)
def test_each_shape_has_the_papers_means(data: str, shape: str) -> None:
    """Computed from the distributions themselves, not from a sample."""
    assert means(LENGTHS[data][shape]) == pytest.approx(MEANS[data], rel=1e-4)


@pytest.mark.parametrize(("data", "shape"), NAMES)
def test_a_sample_is_like_its_distribution(data: str, shape: str) -> None:
    requests = saturated(LENGTHS[data][shape], 4000, seed=5)
    prompts = [request.prompt_tokens for request in requests]
    totals = [request.prompt_tokens + request.answers(LONGEST_TOTAL) for request in requests]
    assert min(prompts) >= 1
    assert max(prompts) <= LONGEST_PROMPT
    assert max(totals) <= LONGEST_TOTAL
    assert sum(prompts) / 4000 == pytest.approx(MEANS[data][0], rel=0.08)
    assert (sum(totals) - sum(prompts)) / 4000 == pytest.approx(MEANS[data][1], rel=0.06)


def test_a_seed_says_it_all() -> None:
    one, again, other = (saturated(lengths_of("sharegpt"), 50, seed) for seed in (3, 3, 4))
    assert one == again
    assert one != other
    longer = saturated(lengths_of("sharegpt"), 80, 3)
    assert longer[:50] == one
    stream = poisson(lengths_of("sharegpt"), 50, 500_000, 3)
    assert [(r.prompt, r.stop_after) for r in stream] == [(r.prompt, r.stop_after) for r in one]


def test_the_same_everywhere() -> None:
    """A digest taken once: another version of Python or another C library has to make the same traffic."""
    digest = hashlib.sha256()
    for data, shape in NAMES:
        for request in poisson(LENGTHS[data][shape], 100, 1000, 9):
            digest.update(f"{request.prompt_tokens},{request.stop_after},{request.arrival};".encode())
    assert digest.hexdigest() == "c39a75eb8206176bdbbac4cc8fc705368896190ed9e771aba88185d35c49fac6"


def test_a_poisson_stream_has_exponential_gaps() -> None:
    arrivals = [0, *(request.arrival for request in poisson(lengths_of("alpaca"), 4000, 1000, 1))]
    gaps = [after - before for before, after in pairwise(arrivals)]
    mean = sum(gaps) / len(gaps)
    assert mean == pytest.approx(1000, rel=0.05)
    assert math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) == pytest.approx(mean, rel=0.06)
    assert sum(1 for gap in gaps if gap < 693) == pytest.approx(2000, rel=0.05)  # half are below ln 2


def test_no_two_prompts_share_a_token() -> None:
    requests = saturated(lengths_of("alpaca"), 300, 2)
    tokens = [token for request in requests for token in request.prompt]
    assert len(tokens) == len(set(tokens))
    assert {request.arrival for request in requests} == {0}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lengths_of("wikipedia"), "data must be one of sharegpt, alpaca, got 'wikipedia'"),
        (lambda: lengths_of("alpaca", "normal"), "shape must be one of lognormal, .* got 'normal'"),
        (lambda: saturated(lengths_of("alpaca"), 0, 1), "count must be from 1 to 200000, got 0"),
        (lambda: saturated(lengths_of("alpaca"), 1, -1), "seed must be at least 0, got -1"),
        (lambda: saturated(lengths_of("alpaca"), 1, 1.0), "seed must be a whole number"),  # type: ignore[arg-type]
        (lambda: poisson(lengths_of("alpaca"), 1, 0, 1), "mean_gap must be at least 1, got 0"),
    ],
)
def test_bad_traffic_is_refused_by_name(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
