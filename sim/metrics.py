"""Run traffic through a policy, and what comes of it: latencies, throughput, and memory shares.

    report = run(policy, traffic, StepCost())
    report.mean_ttft, report.throughput, report.mean_shares()

`Run` owns the time: a request is added when its arrival is due, steps follow each other without a gap, each
as long as the cost model says (sim/cost.py), and while nobody is there time jumps to the next arrival.
Everything is counted in whole units of time and slots, and means are fractions, so nothing is rounded before
it is shown (`fixed`, `percentages`).

Definitions, per request
    queueing  from arrival to the start of the step that admits it first
    ttft      time to first token: from arrival to the end of the step that gives the first answer token, or,
              where answers are held back (static batching), to the return of the whole answer
    tpot      time per output token after the first: from the first to the last, over answers - 1
    latency   from arrival to the return of the whole answer; `normalised` is that over the number of answer
              tokens, the measure of the PagedAttention paper (section 6.1)
Memory is looked at while the model runs, between the two halves of a step: then the memory planned for this
step is given out and nobody has left. That is where a real server spends its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from sim.checks import in_range
from sim.cost import StepCost
from sim.ladder.rung import Halved
from sim.policy import Request, Shares, Step

Time = int | Fraction

PARTS = ("holding", "reserved", "internal", "external", "free")
"""The parts of memory, in the order in which they are told."""

EMPTY_STEPS = 3
"""After so many steps in a row in which nothing happens, nothing ever will (an asynchronous engine needs
two)."""


class Moment(NamedTuple):
    """One step: when it began and how long it took, who was there, and the memory, while the model ran.

    running    requests that hold memory; `scheduled` of them were computed in this step.
    waiting    requests in the queue after planning.
    tokens     tokens computed; `answers` answer tokens given; `preempted` requests thrown out.
    """

    number: int
    start: Time
    duration: int
    running: int
    scheduled: int
    waiting: int
    tokens: int
    answers: int
    preempted: int
    shares: Shares


@dataclass(slots=True)
class Life:
    """What happened to one request; times in units, None while it has not happened.

    admitted  start of the step that admitted it first.
    first     end of the step that gave its first answer token; `last` the latest one so far.
    returned  end of the step in which it ended.
    shown     when its reader saw the first answer token: `first`, or `returned` if answers are held back.
    """

    id: str
    arrived: Time
    prompt: int
    streams: bool = True
    admitted: Time | None = None
    first: Time | None = None
    last: Time | None = None
    returned: Time | None = None
    answers: int = 0
    preemptions: int = 0

    @property
    def shown(self) -> Time | None:
        """When its reader saw the first answer token."""
        return self.first if self.streams else self.returned

    @property
    def queueing(self) -> Time | None:
        """Time in the queue before it first ran."""
        return None if self.admitted is None else self.admitted - self.arrived

    @property
    def ttft(self) -> Time | None:
        """Time to the first token its reader saw."""
        return None if self.shown is None else self.shown - self.arrived

    @property
    def tpot(self) -> Fraction | None:
        """Time per answer token after the first; None before it has ended, or with one answer token."""
        if self.returned is None or self.first is None or self.last is None or self.answers < 2:
            return None
        return Fraction(self.last - self.first) / (self.answers - 1)

    @property
    def latency(self) -> Time | None:
        """Time from its arrival to its whole answer."""
        return None if self.returned is None else self.returned - self.arrived

    @property
    def normalised(self) -> Fraction | None:
        """Latency per answer token."""
        return None if self.latency is None else Fraction(self.latency) / self.answers


@dataclass(frozen=True, slots=True)
class Report:
    """A run so far. Means are exact; None where nothing is there to take the mean of.

    capacity  token slots of the memory.
    moments   the steps, in order.
    lives     the requests that have arrived, in order of arrival.
    clock     time now: the end of the last step.
    per_second  units of time in a second.
    stuck     True if requests are left that the policy can never serve.
    """

    capacity: int
    moments: tuple[Moment, ...]
    lives: tuple[Life, ...]
    clock: Time
    per_second: int
    stuck: bool

    @property
    def finished(self) -> int:
        """Requests that have ended."""
        return sum(1 for life in self.lives if life.returned is not None)

    @property
    def preemptions(self) -> int:
        """How often somebody was thrown out."""
        return sum(moment.preempted for moment in self.moments)

    @property
    def mean_queueing(self) -> Fraction | None:
        """Mean time in the queue of those who were admitted."""
        return _mean(life.queueing for life in self.lives)

    @property
    def mean_ttft(self) -> Fraction | None:
        """Mean time to first token of those who saw one."""
        return _mean(life.ttft for life in self.lives)

    @property
    def mean_tpot(self) -> Fraction | None:
        """Mean time per output token of those who ended with two or more."""
        return _mean(life.tpot for life in self.lives)

    @property
    def mean_latency(self) -> Fraction | None:
        """Mean time to the whole answer of those who have it."""
        return _mean(life.latency for life in self.lives)

    @property
    def mean_normalised(self) -> Fraction | None:
        """Mean latency per answer token of those who have the whole answer (the paper's normalised
        latency)."""
        return _mean(life.normalised for life in self.lives)

    @property
    def throughput(self) -> Fraction | None:
        """Answer tokens a second, over the whole time; None before any time has passed."""
        return self._by_the_second(sum(moment.answers for moment in self.moments))

    @property
    def request_throughput(self) -> Fraction | None:
        """Requests ended a second, over the whole time; None before any time has passed."""
        return self._by_the_second(self.finished)

    def mean_running(self, skip: int = 0) -> Fraction | None:
        """Mean number of running requests over the steps from number `skip` on, each step counting the
        same."""
        return _mean(moment.running for moment in self._after(skip))

    def mean_scheduled(self, skip: int = 0) -> Fraction | None:
        """Mean number of requests computed in a step (the batch), over the steps from number `skip` on."""
        return _mean(moment.scheduled for moment in self._after(skip))

    def mean_shares(self, skip: int = 0) -> tuple[Fraction, ...] | None:
        """Mean parts of the memory in the order of PARTS, over the steps from number `skip` on; they sum to
        1."""
        moments = self._after(skip)
        whole = self.capacity * len(moments)
        if not whole:
            return None
        return tuple(Fraction(sum(getattr(one.shares, part) for one in moments), whole) for part in PARTS)

    def _by_the_second(self, count: int) -> Fraction | None:
        return Fraction(count * self.per_second) / self.clock if self.clock else None

    def _after(self, skip: int) -> tuple[Moment, ...]:
        return self.moments[in_range("skip", skip, 0) :]


@dataclass
class Run:
    """A run of `traffic` through `policy`, a step at a time.

    Traffic may come in any order; requests of equal arrival keep theirs. Arrivals are in the units of
    `cost`. The policy must be new, and is the run's own from now on. ValueError from `step` if the policy
    refuses a request.
    """

    policy: Halved
    traffic: Iterable[Request]
    cost: StepCost = field(default_factory=StepCost)

    def __post_init__(self) -> None:
        self._coming = sorted(self.traffic, key=lambda request: request.arrival)
        self._due = 0  # how many of them have been added
        self._lives: dict[str, Life] = {}
        self._all_lives: list[Life] = []  # an id may come again after its request has ended
        self._moments: list[Moment] = []
        self._empty = 0
        self._alive = 0
        self._streams = bool(getattr(self.policy, "streams", True))
        self.clock: Time = 0

    @property
    def stuck(self) -> bool:
        """True if nothing has happened for a while, and nobody is to come who could change that."""
        return self._empty >= EMPTY_STEPS and self._due == len(self._coming)

    @property
    def over(self) -> bool:
        """True when all have come and gone, or the policy is stuck."""
        return self.stuck or (self._due == len(self._coming) and not self.policy.busy)

    def step(self) -> Step:
        """Add who is due, and take one step; time goes on. ValueError if the run is over."""
        if self.over:
            raise ValueError(f"the run is over after {len(self._moments)} steps")
        if not self.policy.busy or self._empty >= EMPTY_STEPS:
            self.clock = max(self.clock, _exact(self._coming[self._due].arrival))
        self._add_due()
        self.policy.schedule()
        running, shares = len(self.policy.running), self.policy.shares()
        waiting = self._alive - running  # the same as len(policy.waiting), which may be long
        step = self.policy.update()
        duration = self.cost.duration(step.tokens)
        self._live_through(step, duration)
        self._moments.append(_moment(step, self.clock, duration, running, waiting, shares))
        something = step.scheduled or step.sampled or step.preempted or step.finished
        self._empty = 0 if something else self._empty + 1
        self.clock += duration
        return step

    def report(self) -> Report:
        """What has come of it so far."""
        return Report(
            capacity=self.policy.capacity,
            moments=tuple(self._moments),
            lives=tuple(self._all_lives),
            clock=self.clock,
            per_second=self.cost.per_second,
            stuck=self.stuck,
        )

    def _add_due(self) -> None:
        while self._due < len(self._coming) and self._coming[self._due].arrival <= self.clock:
            request = self._coming[self._due]
            self.policy.add(request)
            self._due += 1
            self._alive += 1
            self._empty = 0
            life = Life(request.id, _exact(request.arrival), request.prompt_tokens, self._streams)
            self._lives[request.id] = life
            self._all_lives.append(life)

    def _live_through(self, step: Step, duration: int) -> None:
        """Write into the lives what happened to them in this step."""
        end = self.clock + duration
        for admitted in step.admitted:
            self._lives[admitted.id].admitted = self.clock
        for name in step.preempted:
            self._lives[name].preemptions += 1
        for name in step.sampled:
            life = self._lives[name]
            life.first = end if life.first is None else life.first
            life.last = end
            life.answers += 1
        self._alive -= len(step.finished)
        for name in step.finished:
            self._lives[name].returned = end


def _moment(step: Step, start: Time, duration: int, running: int, waiting: int, shares: Shares) -> Moment:
    return Moment(
        number=step.number,
        start=start,
        duration=duration,
        running=running,
        scheduled=len(step.scheduled),
        waiting=waiting,
        tokens=step.tokens,
        answers=len(step.sampled),
        preempted=len(step.preempted),
        shares=shares,
    )


def run(
    policy: Halved, traffic: Iterable[Request], cost: StepCost | None = None, most_steps: int = 1_000_000
) -> Report:
    """Run all of `traffic` through the new `policy`, at most `most_steps` (>= 1) steps, and report."""
    in_range("most_steps", most_steps, 1)
    going = Run(policy, traffic, StepCost() if cost is None else cost)
    for _ in range(most_steps):
        if going.over:
            break
        going.step()
    return going.report()


def fixed(value: Time, decimals: int) -> str:
    """`value` with exactly `decimals` (0..12) decimals, halves away from zero; no float is involved."""
    scale = 10 ** in_range("decimals", decimals, 0, 12)
    exact = Fraction(value) * scale
    return _with_point(_round(exact), decimals)


def percentages(parts: Sequence[Time], decimals: int = 1) -> tuple[str, ...]:
    """`parts` (>= 0, not all 0) as percentages with `decimals` (0..12) decimals that sum to exactly 100.

    Largest remainder: all are cut off, and what is missing goes to those that lost most, the earlier of
    equals first. ValueError if a part is negative or all are 0.
    """
    units = 100 * 10 ** in_range("decimals", decimals, 0, 12)
    total = sum(parts, Fraction(0))
    if any(part < 0 for part in parts) or total == 0:
        raise ValueError(f"parts must be at least 0 and not all 0, got {[str(part) for part in parts]}")
    exact = [Fraction(part) * units / total for part in parts]
    shown = [value.numerator // value.denominator for value in exact]
    losers = sorted(range(len(parts)), key=lambda place: shown[place] - exact[place])
    for place in losers[: units - sum(shown)]:
        shown[place] += 1
    return tuple([_with_point(value, decimals) for value in shown])


def share_percentages(shares: Shares, decimals: int = 1) -> tuple[str, ...]:
    """The parts of `shares` in the order of PARTS, as `percentages`."""
    return percentages([getattr(shares, part) for part in PARTS], decimals)


def _round(value: Fraction) -> int:
    """The nearest whole number, halves away from zero."""
    size = (2 * abs(value.numerator) + value.denominator) // (2 * value.denominator)
    return size if value >= 0 else -size


def _with_point(value: int, decimals: int) -> str:
    """A whole number of units of the last decimal, written with a point."""
    digits = str(abs(value)).rjust(decimals + 1, "0")
    sign = "-" if value < 0 else ""
    point = len(digits) - decimals
    return f"{sign}{digits[:point]}.{digits[point:]}" if decimals else sign + digits


def _exact(arrival: float) -> Time:
    """An arrival without rounding: an int where it is one."""
    return int(arrival) if arrival == int(arrival) else Fraction(arrival)


def _mean(values: Iterable[Time | None]) -> Fraction | None:
    """The exact mean of those that are there; None if none is."""
    there = [value for value in values if value is not None]
    return Fraction(sum(there)) / len(there) if there else None
