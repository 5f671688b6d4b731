"""The one interface of every serving policy, and the plain values that cross it.

The ladder of policies (static batching, reserved memory as in Orca, paged with whole prefill steps, the vLLM
scheduler) all take a `Request`, go on one `Step` at a time and tell their `Shares` of memory, so the same
traffic runs through each of them. The caller owns the time: it calls `add` when a request is due, then
`step`.

    for number in range(100):
        for request in due(number):
            policy.add(request)
        step = policy.step()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sim.checks import in_range, number_in_range, whole

STOP_TOKEN = 499_999_999
FIRST_ANSWER_TOKEN = 500_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """One request: what the client sends, and what the model is going to answer.

    id           unique among the live requests of a policy, not empty.
    prompt       token ids, at least one; any sequence of ints (a `range` costs no memory).
    max_tokens   most answer tokens, >= 1; None = as many as the model's length leaves (see `limit`).
    arrival      when it came, in steps (>= 0); only used to order requests, and by latency metrics.
    priority     smaller is served earlier, where the policy looks at it at all.
    stop_after   the model says its stop token as answer token number `stop_after` (1-based); None = never.
                 No policy but an oracle may look at it: the others meet it when it happens.
    answer_start answer token number j (from 0) has the id answer_start + j.

    Raises ValueError when a value is out of range.
    """

    id: str
    prompt: Sequence[int]
    max_tokens: int | None = None
    arrival: float = 0
    priority: int = 0
    stop_after: int | None = None
    answer_start: int = FIRST_ANSWER_TOKEN

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise ValueError(f"id must be a text that is not empty, got {self.id!r}")
        in_range("prompt length", len(self.prompt), 1)
        if self.max_tokens is not None:
            in_range("max_tokens", self.max_tokens, 1)
        number_in_range("arrival", self.arrival, 0, 1e12)
        whole("priority", self.priority)
        if self.stop_after is not None:
            in_range("stop_after", self.stop_after, 1)
        whole("answer_start", self.answer_start)

    @property
    def prompt_tokens(self) -> int:
        """Length of the prompt in tokens."""
        return len(self.prompt)

    def limit(self, max_model_len: int) -> int:
        """Most answer tokens the client allows: max_tokens, or what a model of `max_model_len` leaves."""
        return max_model_len - len(self.prompt) if self.max_tokens is None else self.max_tokens

    def answers(self, max_model_len: int) -> int:
        """Answer tokens it really gets: the least by stop token, max_tokens and model length."""
        most = min(self.limit(max_model_len), max_model_len - len(self.prompt))
        return most if self.stop_after is None else min(most, self.stop_after)


class Scheduled(NamedTuple):
    """One request's part of a step: `tokens` are computed now, `computed` were before. Unpacks as a tuple."""

    id: str
    tokens: int
    computed: int


class Admitted(NamedTuple):
    """A request that began to run in a step; `cached` tokens came from the prefix cache."""

    id: str
    cached: int


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did, in order: admitted and scheduled, preempted, then answered and finished.

    number      0 for a policy's first step, then 1, 2, ...
    scheduled   who computes how many tokens, in scheduling order (running first).
    tokens      their sum.
    admitted    began to run for the first time; `resumed` again, after a preemption.
    preempted   thrown out in this step, in order.
    sampled     requests for which the model gave an answer token in this step.
    finished    ended in this step, their memory is free again.
    planned     False if nothing could be planned: no live request (an asynchronous engine only takes answers
                then).
    answered    False if no answers came back: the first step of an asynchronous engine.
    """

    number: int
    scheduled: tuple[Scheduled, ...] = ()
    tokens: int = 0
    admitted: tuple[Admitted, ...] = ()
    resumed: tuple[Admitted, ...] = ()
    preempted: tuple[str, ...] = ()
    sampled: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    planned: bool = True
    answered: bool = True


@dataclass(frozen=True, slots=True)
class Shares:
    """The memory of a policy at one moment, in token slots; the five parts sum to the whole.

    holding   slots with the KV of a token in them (a slot shared by several requests counts once).
    reserved  kept for tokens that are really going to come, but empty now.
    internal  given to a request that will never fill them, or the unfilled rest of its last block.
    external  free, but in pieces that cannot serve anybody.
    free      ready to be given out.
    """

    holding: int
    reserved: int
    internal: int
    external: int
    free: int

    def __post_init__(self) -> None:
        for name in ("holding", "reserved", "internal", "external", "free"):
            in_range(name, getattr(self, name), 0)

    @property
    def capacity(self) -> int:
        """All token slots: the sum of the five parts."""
        return self.holding + self.reserved + self.internal + self.external + self.free


class Policy(Protocol):
    """What every rung of the ladder offers. Bad input raises ValueError and changes nothing."""

    @property
    def capacity(self) -> int:
        """Token slots of the memory."""

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the running requests, in the policy's own order."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of the waiting requests, the next to be served first."""

    @property
    def busy(self) -> bool:
        """True while a step would still do something or somebody waits."""

    def add(self, request: Request) -> None:
        """Queue a new request; ValueError if its id is alive already or it can never be served."""

    def abort(self, request_id: str) -> bool:
        """Drop a request and free its memory; False if no such request is alive."""

    def step(self) -> Step:
        """Plan, let the model run, and take the answers in: one step of the engine."""

    def shares(self) -> Shares:
        """How the memory is used now; the parts sum to `capacity`."""
