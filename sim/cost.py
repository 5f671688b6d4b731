"""How long a step takes: a teaching assumption, not a measurement.

    duration = base + per_token x tokens computed in the step

`base` is what every step costs however little it does, above all reading the weights once; `per_token` is the
arithmetic of one more token. The default figures have the order of magnitude of OPT-13B on an A100: 26 GB of
weights at 1.5 TB/s are some 17 ms, 2 x 13e9 operations at 300 TFLOP/s some 0.1 ms. They are rounded on
purpose.

Left out on purpose: attention takes longer over long contexts (and 20 to 26 % longer through a block table,
PagedAttention paper, section 7.1), swapping, the scheduler's own time. So curves have the right shape, and
no figure is a real server's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sim.checks import in_range


@dataclass(frozen=True, slots=True)
class StepCost:
    """Time of a step in whole units of time, microseconds by default; ValueError for anything below the
    ranges.

    base        units every step costs, >= 1.
    per_token   units a computed token costs, >= 0.
    per_second  units in a second, >= 1; only used to tell throughput by the second.
    """

    base: int = 20_000
    per_token: int = 100
    per_second: int = 1_000_000

    def __post_init__(self) -> None:
        in_range("base", self.base, 1)
        in_range("per_token", self.per_token, 0)
        in_range("per_second", self.per_second, 1)

    def duration(self, tokens: int) -> int:
        """Units a step takes that computes `tokens` (>= 0) tokens."""
        return self.base + self.per_token * in_range("tokens", tokens, 0)


IN_STEPS: Final = StepCost(base=1, per_token=0, per_second=1)
"""Every step takes one unit: time is counted in steps, and arrivals are step numbers."""
