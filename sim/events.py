"""What happened inside an engine, in the order it happened: plain values from which scenes make sentences.

A policy that tells events takes a recorder, any callable of one event (`events.append` of a list will do).
Without a recorder no event is made. Every event names the step and, where there is one, the request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in step number `step`."""

    step: int


@dataclass(frozen=True, slots=True)
class Arrived(Event):
    """`request` joined the queue with a prompt of `tokens` tokens."""

    request: str
    tokens: int


@dataclass(frozen=True, slots=True)
class AdmittedEvent(Event):
    """`request` began to run (`resumed`: again); `cached` blocks found by prefix hold `tokens` tokens."""

    request: str
    cached: tuple[int, ...]
    tokens: int
    resumed: bool


@dataclass(frozen=True, slots=True)
class ScheduledEvent(Event):
    """`request` computes `tokens` tokens in this step, `computed` it had before."""

    request: str
    tokens: int
    computed: int


@dataclass(frozen=True, slots=True)
class BlockTaken(Event):
    """`request` got the free `block` for its logical page `page` (from 1)."""

    request: str
    block: int
    page: int


@dataclass(frozen=True, slots=True)
class BlockShared(Event):
    """`request` reuses `block`, found by prefix, as its page `page`; `references` tables hold it now."""

    request: str
    block: int
    page: int
    references: int


@dataclass(frozen=True, slots=True)
class BlockEvicted(Event):
    """`block` is being handed out, so what was cached in it can no longer be found."""

    block: int


@dataclass(frozen=True, slots=True)
class PreemptedEvent(Event):
    """`request` was thrown out because `needed_by` (maybe itself) needs `needs` blocks and only `free` are
    free.

    `why` is "latest" (FCFS: the latest admitted goes) or "least-urgent" (priority); `lost` computed tokens
    and `released` blocks are gone.
    """

    request: str
    needed_by: str
    needs: int
    free: int
    why: str
    lost: int
    released: int


@dataclass(frozen=True, slots=True)
class FinishedEvent(Event):
    """`request` ended with `answers` answer tokens: by "stop", "max-tokens", "model-length" or "aborted"."""

    request: str
    answers: int
    why: str


@dataclass(frozen=True, slots=True)
class WaitingEvent(Event):
    """`request` still waits after this step's planning. It needs `needs`, only `free` are there; of what,
    says `why`:

    "blocks"     blocks of memory; `watermark` of those needed are only kept back
    "slots"      places among the running requests (max_num_seqs)
    "tokens"     tokens of this step's budget
    "preemption" nobody is admitted in a step that preempted (both figures 0)
    "behind"     it stands behind `behind`, which cannot go (both figures those of `behind`)
    """

    request: str
    why: str
    needs: int
    free: int
    watermark: int = 0
    behind: str = ""


Recorder = Callable[[Event], None]
