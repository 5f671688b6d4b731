"""Rung: what the policies below vLLM 0.33 have in common. A subclass says who runs, and how memory is given
out.

All of them answer alike: a prefill computes the whole prompt (and the answers known before a preemption) in
one step and gives the next answer token; a decode computes that token and gives one more. The last answer
token is never computed, so a request of p prompt and n answer tokens fills at most p + n - 1 slots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Generic, Protocol, TypeVar

from sim.ladder.config import LadderConfig
from sim.policy import Admitted, Policy, Request, Scheduled, Shares, Step


class Halved(Policy, Protocol):
    """A policy whose step comes in two halves, so that memory can be looked at while the model runs."""

    def schedule(self) -> None:
        """The first half: plan, and give out the memory. ValueError if it was done already."""

    def update(self) -> Step:
        """The second half: answers come back, ended requests leave. ValueError if schedule() was not
        called."""


class Live:
    """One request while a rung has it.

    known    prompt + answers received.
    done     tokens whose KV is in memory.
    end      `known` at which it really ends. Only an oracle may look at it before.
    """

    __slots__ = ("done", "end", "id", "known", "request", "resumed")

    def __init__(self, request: Request, max_model_len: int) -> None:
        self.request = request
        self.id = request.id
        self.known = request.prompt_tokens
        self.end = self.known + request.answers(max_model_len)
        self.done = 0
        self.resumed = False

    @property
    def filled_at_last(self) -> int:
        """Slots it will have filled when it ends."""
        return self.end - 1

    @property
    def ended(self) -> bool:
        """True once it has its last answer token."""
        return self.known >= self.end


AnyLive = TypeVar("AnyLive", bound=Live)


class Plan:
    """What one schedule() decided; `live` are the scheduled, in order: each gets an answer."""

    __slots__ = ("admitted", "live", "planned", "preempted", "resumed", "scheduled")

    def __init__(self, planned: bool) -> None:
        self.planned = planned
        self.live: list[Live] = []
        self.scheduled: list[Scheduled] = []
        self.admitted: list[Admitted] = []
        self.resumed: list[Admitted] = []
        self.preempted: list[str] = []

    def schedule(self, live: Live) -> int:
        """`live` computes all it has not computed; returns how many tokens that are."""
        n = live.known - live.done
        self.live.append(live)
        self.scheduled.append(Scheduled(live.id, n, live.done))
        live.done = live.known
        return n

    def admit(self, live: Live) -> None:
        """`live` begins to run (again)."""
        (self.resumed if live.resumed else self.admitted).append(Admitted(live.id, 0))


class Rung(ABC, Generic[AnyLive]):
    """A policy over one machine. Waiting is first come, first served in all of them.

    config   see LadderConfig.
    streams  True: an answer token reaches its reader in the step that gives it; False: with the whole batch.
    """

    streams = True

    def __init__(self, config: LadderConfig) -> None:
        self.config = config
        self.number = 0
        self._alive: dict[str, AnyLive] = {}
        self._waiting: OrderedDict[str, AnyLive] = OrderedDict()
        self._running: list[AnyLive] = []
        self._plan: Plan | None = None

    # What a subclass gives

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Token slots of the memory."""

    @abstractmethod
    def shares(self) -> Shares:
        """How the memory is used now; the parts sum to `capacity`."""

    @abstractmethod
    def _new_live(self, request: Request) -> AnyLive:
        """The state of a new request; ValueError if it can never be served."""

    @abstractmethod
    def _fill(self, plan: Plan) -> None:
        """Decide who is computed in this step."""

    @abstractmethod
    def _release(self, live: AnyLive) -> None:
        """Take the memory of a running request back."""

    def _leaving(self) -> list[AnyLive]:
        """The running requests that leave at the end of this step, in order."""
        return [live for live in self._running if live.ended]

    # Ask

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the running requests."""
        return tuple([live.id for live in self._running])

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of the waiting requests, the next to be served first."""
        return tuple(self._waiting)

    @property
    def busy(self) -> bool:
        """True while somebody is alive."""
        return bool(self._alive)

    # Do

    def add(self, request: Request) -> None:
        """Queue a new request; ValueError if its id is alive already or it can never be served."""
        if request.id in self._alive:
            raise ValueError(f"request {request.id!r} is alive already")
        if request.prompt_tokens >= self.config.max_model_len:
            raise ValueError(
                f"prompt of {request.id!r} must be shorter than max_model_len {self.config.max_model_len}, "
                f"got {request.prompt_tokens} tokens"
            )
        live = self._new_live(request)
        self._alive[live.id] = self._waiting[live.id] = live

    def abort(self, request_id: str) -> bool:
        """Drop a request and free its memory; False if no such request is alive. ValueError amid a step."""
        if self._plan is not None:
            raise ValueError(f"step {self.number} is planned, abort {request_id!r} after update()")
        live = self._alive.pop(request_id, None)
        if live is None:
            return False
        if request_id in self._waiting:
            del self._waiting[request_id]
        else:
            self._leave(live)
        return True

    def step(self) -> Step:
        """Plan, let the model run, take the answers in."""
        self.schedule()
        return self.update()

    def schedule(self) -> None:
        """The first half of a step. ValueError if the half before was also this one."""
        if self._plan is not None:
            raise ValueError(f"step {self.number} is planned already, update() comes next")
        self._plan = Plan(planned=self.busy)
        self._fill(self._plan)

    def update(self) -> Step:
        """The second half of a step. ValueError if schedule() was not called."""
        plan, self._plan = self._plan, None
        if plan is None:
            raise ValueError(f"step {self.number} is not planned yet, schedule() comes first")
        for live in plan.live:
            live.known += 1
        leaving = self._leaving()
        for one in leaving:
            self._leave(one)
            del self._alive[one.id]
        step = _step(self.number, plan, tuple([live.id for live in leaving]))
        self.number += 1
        return step

    # For subclasses

    def _head(self) -> AnyLive | None:
        """The next of the queue, None if nobody waits."""
        return next(iter(self._waiting.values()), None)

    def _start(self, plan: Plan, live: AnyLive) -> int:
        """From the queue to the end of `running`, and its first tokens planned; returns their number."""
        del self._waiting[live.id]
        self._running.append(live)
        plan.admit(live)
        return plan.schedule(live)

    def _leave(self, live: AnyLive) -> None:
        self._running.remove(live)
        self._release(live)


def _step(number: int, plan: Plan, finished: tuple[str, ...]) -> Step:
    return Step(
        number=number,
        scheduled=tuple(plan.scheduled),
        tokens=sum([entry.tokens for entry in plan.scheduled]),
        admitted=tuple(plan.admitted),
        resumed=tuple(plan.resumed),
        preempted=tuple(plan.preempted),
        sampled=tuple([live.id for live in plan.live]),
        finished=finished,
        planned=plan.planned,
    )
