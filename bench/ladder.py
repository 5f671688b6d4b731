"""The ladder beside the PagedAttention paper's figures 2 and 13: `python -m bench.ladder [--data alpaca]
[--seeds 3]`.

For each shape of lengths and each policy: mean percent of the memory by part, mean running requests, over a
saturated queue, and the seconds it took. The paper's rows stand first. Lengths are synthetic
(sim/traffic.py).
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

from sim.cost import IN_STEPS
from sim.ladder import LADDER, LadderConfig
from sim.metrics import PARTS, Report, fixed, percentages, run
from sim.traffic import LENGTHS, lengths_of, saturated

PAPER = {
    "orca-max": ("20.4", "13.3", "57.3", "8.9", "-", "7.00", "7.00"),
    "orca-pow2": ("26.8", "17.9", "13.6", "41.6", "-", "9.81", "43.24"),
    "orca-oracle": ("38.2", "25.2", "-", "36.6", "-", "13.62", "72.75"),
    "vllm-v0": ("96.3", "-", "-", "-", "-", "30.42", "132.44"),
}
STEPS = {"sharegpt": 8_000, "alpaca": 800}
REQUESTS = {"sharegpt": 2_000, "alpaca": 3_000}


def line(shape: str, name: str, figures: tuple[str, ...], seconds: str = "") -> str:
    """One row of the table."""
    return f"{shape:18}{name:12}" + "".join(f"{figure:>10}" for figure in figures) + f"{seconds:>10}"


def average(reports: list[Report], skip: int) -> tuple[str, ...]:
    """Mean parts in percent and mean running requests of several runs."""
    shares = [shares for report in reports if (shares := report.mean_shares(skip))]
    batches = [batch for report in reports if (batch := report.mean_running(skip)) is not None]
    parts = [sum(column, Fraction(0)) for column in zip(*shares, strict=True)]
    return *percentages(parts), fixed(sum(batches, Fraction(0)) / len(batches), 2)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=tuple(LENGTHS), default="sharegpt")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--policies", default="static,orca-max,orca-pow2,orca-oracle,vllm-v0")
    chosen = parser.parse_args()
    steps = STEPS[chosen.data]
    print(line("lengths", "policy", (*PARTS, "batch"), "seconds"))
    for name, figures in PAPER.items():
        batch = figures[5] if chosen.data == "sharegpt" else figures[6]
        parts = figures[:5] if chosen.data == "sharegpt" else ("-",) * 5
        print(line("paper", name, (*parts, batch)))
    for shape in LENGTHS[chosen.data]:
        lengths = lengths_of(chosen.data, shape)
        traffics = [saturated(lengths, REQUESTS[chosen.data], seed) for seed in range(1, chosen.seeds + 1)]
        for name in chosen.policies.split(","):
            start = time.perf_counter()
            config = LadderConfig(enable_prefix_caching=False)
            reports = [run(LADDER[name](config), traffic, IN_STEPS, steps) for traffic in traffics]
            took = f"{time.perf_counter() - start:.1f}"
            print(line(shape, name, average(reports, steps // 4), took), flush=True)


if __name__ == "__main__":
    main()
