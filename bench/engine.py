"""How fast the engine plans, and how much memory it takes: `python -m bench.engine [--sizes 100,1000]`.

The workload is the one on which the real scheduler was measured: all requests at step 0, prompt 200,
answer 100, block size 16, budget 2,048, 64 slots, 4,096 blocks; the tight pool has 900. Time covers
schedule and update of the whole run, construction excluded. Memory is the peak that Python allocates for
the engine and its requests while all of them wait and the first steps run: it only falls after that.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sim.engine import EngineConfig, Request, Scheduler

ROOT = Path(__file__).resolve().parent.parent
SIZES = (100, 1_000, 10_000, 100_000)
MOST_IN_PYODIDE = 10_000
PROMPT, ANSWER = 200, 100
PLENTY, TIGHT = 4_096, 900
STEPS_FOR_MEMORY = 150  # more than one generation of running requests
CASES = (
    ("plain", False, PLENTY),
    ("prefix caching", True, PLENTY),
    ("preemption", False, TIGHT),
    ("both", True, TIGHT),
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run: `request_steps` planned in `seconds` by the clock given, `preemptions` among them."""

    requests: int
    request_steps: int
    preemptions: int
    seconds: float

    @property
    def microseconds(self) -> float:
        """Microseconds a request-step."""
        return self.seconds / self.request_steps * 1e6


def loaded(requests: int, caching: bool, blocks: int) -> Scheduler:
    """An engine with all requests waiting, no two prompts alike."""
    engine = Scheduler(
        EngineConfig(
            block_size=16,
            num_blocks=blocks,
            max_num_seqs=64,
            max_num_batched_tokens=2_048,
            max_model_len=2_048,
            enable_prefix_caching=caching,
        )
    )
    for number in range(requests):
        start = number * 1_000
        engine.add(Request(f"r{number}", range(start, start + PROMPT), ANSWER, answer_start=start + PROMPT))
    return engine


def measure(
    requests: int, clock: Callable[[], float], caching: bool = False, blocks: int = PLENTY
) -> Measurement:
    """Run `requests` requests to their end; `clock` gives seconds (time.process_time will do)."""
    engine = loaded(requests, caching, blocks)
    request_steps = preemptions = 0
    begin = clock()
    while engine.busy:
        step = engine.step()
        request_steps += len(step.scheduled)
        preemptions += len(step.preempted)
    return Measurement(requests, request_steps, preemptions, clock() - begin)


def peak_bytes(requests: int, caching: bool = False, blocks: int = PLENTY) -> int:
    """Peak of the bytes allocated for the engine and its requests."""
    tracemalloc.start()
    engine = loaded(requests, caching, blocks)
    for _ in range(STEPS_FOR_MEMORY):
        engine.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def row(case: str, run: Measurement) -> str:
    """One line of the table, without memory."""
    return f"{case:>16}{run.requests:>10}{run.request_steps:>15}{run.preemptions:>13}{run.microseconds:>9.2f}"


def in_pyodide(sizes: list[int]) -> None:
    """Print the same table, without memory, measured in Pyodide. Raises CalledProcessError if that fails."""
    few = [str(size) for size in sizes if size <= MOST_IN_PYODIDE]
    subprocess.run(["node", str(ROOT / "bench" / "in_pyodide.mjs"), str(ROOT), *few], check=True)


def main(arguments: list[str]) -> int:
    """Print a table for CPython and one for Pyodide; 0."""
    parser = argparse.ArgumentParser(description="Speed and memory of the engine.")
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), help="numbers of requests, comma separated"
    )
    sizes = [int(text) for text in parser.parse_args(arguments).sizes.split(",")]
    heads = ("case", "requests", "request-steps", "preemptions", "us each", "peak MB", "B each")
    widths = (16, 10, 15, 13, 9, 9, 8)
    print("".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)))
    for name, caching, blocks in CASES:
        for size in sizes:
            repeats = max(1, min(5, 10_000 // size))  # short runs say little alone: take the quickest
            runs = [measure(size, time.process_time, caching, blocks) for _ in range(repeats)]
            run = min(runs, key=lambda one: one.seconds)
            peak = peak_bytes(size, caching, blocks)
            print(f"{row(name, run)}{peak / 1e6:>9.1f}{peak // size:>8}", flush=True)
    print("in Pyodide:", flush=True)
    in_pyodide(sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
