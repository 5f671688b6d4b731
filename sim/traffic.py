"""Traffic: requests with synthetic lengths and arrivals, the same for everybody who gives the same seed.

The real ShareGPT and Alpaca conversations are not here. Their lengths are replaced by a stated shape
(lognormal, or gamma of shape 1 or 2) whose means, after throwing away what is too long (prompt > 1,024 or
total > 2,048 tokens), are those of the PagedAttention paper, section 6.2: ShareGPT 161.31 in and 337.99 out,
Alpaca 19.31 and 58.45. Prompt and answer lengths are independent of each other, which real ones are not
quite.

All chance comes from `random.Random` of a given seed (a whole number >= 0). Logarithms and exponentials are
taken by `decimal`, whose results are defined to the last digit, so that CPython and Pyodide, whose C
libraries differ there, make the same traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from math import fsum, sqrt
from random import Random
from types import MappingProxyType

from sim.checks import in_range, one_of
from sim.policy import Request

LONGEST_PROMPT = 1024
LONGEST_TOTAL = 2048

_DIGITS = Context(prec=20)


def _log(x: float) -> float:
    return float(_DIGITS.ln(Decimal(x)))


def _exp(x: float) -> float:
    return float(_DIGITS.exp(Decimal(x)))


def exponential(random: Random) -> float:
    """An exponential variate of mean 1."""
    return -_log(1.0 - random.random())


def normal(random: Random) -> float:
    """A standard normal variate (Marsaglia's polar method, the second one is thrown away)."""
    while True:
        x, y = 2.0 * random.random() - 1.0, 2.0 * random.random() - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * sqrt(-2.0 * _log(square) / square)


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape and scale of one length before anything is thrown away.

    scale   lognormal: the median; gamma: the mean. In tokens.
    spread  lognormal: sigma, which is sqrt(ln(1 + cv^2)); gamma: 0.
    stages  gamma: its shape, a whole number (1 is the exponential, cv 1; 2 has cv 0.71); lognormal: 0.
    """

    scale: float
    spread: float = 0.0
    stages: int = 0

    def draw(self, random: Random) -> int:
        """A length in tokens, rounded, at least 1."""
        if self.stages:
            times = fsum([exponential(random) for _ in range(self.stages)]) / self.stages
        else:
            times = _exp(self.spread * normal(random))
        return max(1, round(self.scale * times))


@dataclass(frozen=True, slots=True)
class Lengths:
    """Prompt and answer lengths of one kind of traffic."""

    prompt: Shape
    answer: Shape

    def draw(self, random: Random) -> tuple[int, int]:
        """(prompt, answer) in tokens: prompt <= 1,024 and their sum <= 2,048, the too long drawn again."""
        while True:
            prompt, answer = self.prompt.draw(random), self.answer.draw(random)
            if prompt <= LONGEST_PROMPT and prompt + answer <= LONGEST_TOTAL:
                return prompt, answer


def _lognormal(prompt: float, prompt_spread: float, answer: float, answer_spread: float) -> Lengths:
    return Lengths(Shape(prompt, spread=prompt_spread), Shape(answer, spread=answer_spread))


def _gamma(prompt: float, answer: float, stages: int) -> Lengths:
    return Lengths(Shape(prompt, stages=stages), Shape(answer, stages=stages))


# The scales were solved for the paper's means after throwing away; a test computes the means again from the
# distributions. Spreads: 0.703, 0.833, 1.042 are coefficients of variation of 0.8, 1.0, 1.4. Which shape the
# real lengths have is not known; what is claimed about the policies has to hold for all of them.
LENGTHS: Mapping[str, Mapping[str, Lengths]] = MappingProxyType(
    {
        "sharegpt": MappingProxyType(
            {
                "lognormal": _lognormal(106.439, 1.042, 251.614, 0.833),
                "lognormal-narrow": _lognormal(118.3, 0.833, 268.63, 0.703),
                "lognormal-wide": _lognormal(106.809, 1.042, 230.379, 1.042),
                "exponential": _gamma(163.83, 346.888, 1),
                "gamma": _gamma(161.376, 338.355, 2),
            }
        ),
        "alpaca": MappingProxyType(
            {
                "lognormal": _lognormal(11.225, 1.042, 41.318, 0.833),
                "lognormal-narrow": _lognormal(13.649, 0.833, 45.653, 0.703),
                "lognormal-wide": _lognormal(11.225, 1.042, 34.03, 1.042),
                "exponential": _gamma(19.287, 58.442, 1),
                "gamma": _gamma(19.309, 58.45, 2),
            }
        ),
    }
)
MEANS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"sharegpt": (161.31, 337.99), "alpaca": (19.31, 58.45)}
)
"""Mean prompt and answer length in tokens of the two data sets, from the paper."""

MOST_REQUESTS = 200_000


def lengths_of(data: str, shape: str = "lognormal") -> Lengths:
    """The lengths of `data` (sharegpt or alpaca) in one of the shapes of LENGTHS; ValueError for other
    names."""
    shapes = LENGTHS[one_of("data", data, tuple(LENGTHS))]
    return shapes[one_of("shape", shape, tuple(shapes))]


def saturated(lengths: Lengths, count: int, seed: int) -> tuple[Request, ...]:
    """`count` requests (1..200,000) that are all there at the start: the queue is full until the last ones
    run."""
    return _requests(lengths, count, seed, lambda random: 0)


def poisson(lengths: Lengths, count: int, mean_gap: int, seed: int) -> tuple[Request, ...]:
    """`count` requests (1..200,000) in a Poisson stream: exponential gaps of mean `mean_gap` (>= 1) units of
    time.

    Units are those of the cost model (sim/cost.py), so 500,000 is two a second in microseconds. Gaps are
    rounded.
    """
    in_range("mean_gap", mean_gap, 1)
    return _requests(lengths, count, seed, lambda random: round(mean_gap * exponential(random)))


def _requests(lengths: Lengths, count: int, seed: int, gap: Callable[[Random], int]) -> tuple[Request, ...]:
    in_range("count", count, 1, MOST_REQUESTS)
    # Two sources, so that the same seed gives the same lengths however they arrive.
    sizes, gaps = Random(2 * in_range("seed", seed, 0)), Random(2 * seed + 1)
    return tuple(_numbered(count, lambda: lengths.draw(sizes), lambda: gap(gaps)))


def _numbered(count: int, draw: Callable[[], tuple[int, int]], gap: Callable[[], int]) -> Iterator[Request]:
    """Requests r0, r1, ...: no two prompts have a token in common, and the model stops by itself."""
    arrival = 0
    for number in range(count):
        prompt, answer = draw()
        arrival += gap()
        first = number * LONGEST_TOTAL
        yield Request(f"r{number}", range(first, first + prompt), None, arrival, stop_after=answer)
