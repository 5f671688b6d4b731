"""A small evening for the engine: who comes when, with how long a prompt, and how long an answer.

Runs the real scheduler (``sim.engine``) round by round and keeps a picture of every round. Data and
a recording of one run; no rule of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sim.checks import in_range
from sim.engine import EngineConfig, Scheduler
from sim.events import Event
from sim.policy import Request
from sim.station import LOCKERS, WINDOWS

BLOCK_TOKENS = 4
"""Tokens in one block of this engine, small so that tables grow before the reader's eyes."""


@dataclass(frozen=True)
class Visitor:
    """One request: ``name``, the round it arrives (from 1), tokens of its prompt and of its answer."""

    name: str
    arrival: int
    prompt: int
    answers: int


EVENING = (
    Visitor("A", 1, 30, 9),
    Visitor("B", 1, 18, 3),
    Visitor("C", 1, 45, 6),
    Visitor("D", 2, 26, 4),
    Visitor("E", 3, 70, 5),
    Visitor("F", 4, 121, 4),
    Visitor("G", 5, 42, 5),
    Visitor("H", 6, 14, 4),
)
"""The stated workload: eight requests over six rounds."""


@dataclass(frozen=True)
class Running:
    """A request at a window in this round: its answer tokens with this one, its blocks, whether it ends."""

    name: str
    prompt: int
    answers: int
    blocks: tuple[int, ...]
    first: bool
    done: bool


@dataclass(frozen=True)
class Round:
    """One round: who runs and waits, the blocks held during it, answer tokens so far, what happened."""

    running: tuple[Running, ...]
    waiting: tuple[str, ...]
    used: int
    free: int
    tokens: int
    events: tuple[Event, ...]


@lru_cache(maxsize=4)
def play(
    evening: tuple[Visitor, ...] = EVENING, windows: int = WINDOWS, lockers: int = LOCKERS
) -> tuple[Round, ...]:
    """Run the engine until everybody is served; element 0 is the empty station before the first round.

    Raises ValueError for an evening without visitors or an arrival before round 1, and as the engine does,
    for instance for two visitors of one name.
    """
    in_range("number of visitors", len(evening), 1)
    for visitor in evening:
        in_range("arrival", visitor.arrival, 1)
    events: list[Event] = []
    engine = Scheduler(_config(windows, lockers), events.append)
    rounds = [Round((), (), 0, lockers, 0, ())]
    while len(rounds) <= max(visitor.arrival for visitor in evening) or engine.busy:
        for visitor in evening:
            if visitor.arrival == len(rounds):
                engine.add(
                    Request(visitor.name, range(visitor.prompt), visitor.answers, arrival=visitor.arrival)
                )
        rounds.append(_round(engine, rounds[-1].tokens, evening, events))
        events.clear()
    return tuple(rounds)


def _config(windows: int, lockers: int) -> EngineConfig:
    return EngineConfig(
        block_size=BLOCK_TOKENS,
        num_blocks=lockers + 1,
        max_num_seqs=windows,
        max_num_batched_tokens=lockers * BLOCK_TOKENS,
        max_model_len=lockers * BLOCK_TOKENS,
        enable_prefix_caching=False,
    )


def _round(engine: Scheduler, before: int, evening: Sequence[Visitor], events: list[Event]) -> Round:
    engine.schedule()
    tables = {name: table.blocks for name, table in engine.tables.items()}
    free = engine.memory.pool.free_count
    prompts = {visitor.name: visitor.prompt for visitor in evening}
    answers = {name: engine.progress(name)[0] - prompts[name] for name in engine.running}
    step = engine.update()
    running = tuple(
        Running(
            name, prompts[name], had + (name in step.sampled), tables[name], had == 0, name in step.finished
        )
        for name, had in answers.items()
    )
    tokens = before + len(step.sampled)
    used = engine.memory.pool.usable - free
    return Round(running, engine.waiting, used, free, tokens, tuple(events))
