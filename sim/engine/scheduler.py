"""The scheduler of vLLM 0.33, decision for decision (vLLM: v1/core/sched/scheduler.py, async_scheduler.py).

A step is `schedule()` (the running pass, then the admission pass), the model's run, and `update()` (answers
come back). With asynchronous scheduling step t+1 is planned before the answers of step t are back.

Deliberate differences from vLLM
* No model: answer tokens are given by the Request; a token is a number.
* No connectors, speculative decoding, sliding windows, encoders, LoRA, structured output, pausing.
* The pipeline is at most two steps deep, so a waiting request with an answer in flight is never met by the
  admission pass and vLLM's passing over of it is left out.
* `step()` says who was sampled even where the answer is dropped, as the recordings do.
* The five last switches of EngineConfig bring back decisions of 0.11. There a priority victim planned
  already is taken out of the plan but its tokens are lost for the step, and the walk skips one request.
"""

from __future__ import annotations

from collections import deque
from operator import itemgetter

from sim.block_table import BlockTable
from sim.engine.config import EngineConfig
from sim.engine.live import NEVER, Live
from sim.engine.memory import Demand, Memory
from sim.engine.queues import waiting_queue
from sim.events import (
    AdmittedEvent,
    Arrived,
    BlockEvicted,
    BlockShared,
    BlockTaken,
    FinishedEvent,
    PreemptedEvent,
    Recorder,
    ScheduledEvent,
    WaitingEvent,
)
from sim.policy import Admitted, Request, Scheduled, Shares, Step
from sim.prefix import HashFunction, prefix_hash

_new = tuple.__new__  # a NamedTuple without its own constructor: half the time in the hot path
_tokens = itemgetter(1)


class Plan:
    """What one schedule() decided: `left` of the budget is unused, `sampling` get an answer each."""

    __slots__ = ("admitted", "index", "left", "preempted", "resumed", "sampling", "scheduled", "stopped")

    def __init__(self, budget: int) -> None:
        self.left = budget
        self.index = 0  # where the running pass stands
        self.scheduled: list[Scheduled] = []
        self.sampling: list[Live] = []
        self.admitted: list[Admitted] = []
        self.resumed: list[Admitted] = []
        self.preempted: list[str] = []
        self.stopped: tuple[str, Demand | None] = ("", None)  # why the admission pass stopped


class Scheduler:
    """The engine: `add` requests, then `step` until it is no longer `busy`.

    config  see EngineConfig.
    record  called with each event (sim/events.py); None: no event is made.
    hasher  the prefix hash; tests give a bad one to show that collisions do no harm.

    `memory.pool` is the BlockPool. Raises ValueError for bad requests and for a step begun twice.
    """

    def __init__(
        self, config: EngineConfig, record: Recorder | None = None, hasher: HashFunction = prefix_hash
    ) -> None:
        self.config = config
        self.memory = Memory(config, hasher)
        self.number = 0
        self._record = record
        if record is not None:
            self.memory.pool.on_evict = lambda block: record(BlockEvicted(self.number, block))
        self._alive: dict[str, Live] = {}
        self._running: list[Live] = []
        self._waiting = waiting_queue(config.policy)
        self._in_flight: deque[Plan] = deque()
        self._depth = 2 if config.async_scheduling else 1
        self._plan: Plan | None = None  # planned, answers not taken in yet
        self._begun = False

    # Ask

    @property
    def capacity(self) -> int:
        """Token slots of the pool."""
        return self.memory.pool.usable * self.config.block_size

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the running requests, in admission order."""
        return tuple(live.id for live in self._running)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of the waiting requests, in the order in which they will be tried."""
        return tuple(live.id for live in self._waiting)

    @property
    def tables(self) -> dict[str, BlockTable]:
        """The BlockTable of each running request, in running order."""
        return {live.id: live.table for live in self._running}

    @property
    def busy(self) -> bool:
        """True while a request is alive or an answer is in flight."""
        return bool(self._alive or self._in_flight)

    @property
    def alive(self) -> int:
        """Number of requests that run or wait."""
        return len(self._alive)

    def progress(self, request_id: str) -> tuple[int, int]:
        """(known, computed) tokens of a live request; ValueError if there is none."""
        live = self._alive.get(request_id)
        if live is None:
            raise ValueError(f"no live request {request_id!r}")
        return live.known, live.done

    def shares(self) -> Shares:
        """The memory now; what is neither token nor free is the unfilled rest of blocks.

        Only full blocks are shared, so what a table leaves unfilled is nobody else's.
        """
        size = self.config.block_size
        unfilled = sum(live.slots - live.done for live in self._running)
        free = self.memory.pool.free_count * size
        return Shares(self.capacity - free - unfilled, 0, unfilled, 0, free)

    # Requests come and go

    def add(self, request: Request) -> None:
        """Queue a request. ValueError if its id is alive or its prompt too long."""
        if request.id in self._alive:
            raise ValueError(f"request {request.id!r} is alive already")
        if request.prompt_tokens >= self.config.max_model_len:
            raise ValueError(
                f"prompt of {request.id!r} must be shorter than max_model_len {self.config.max_model_len}, "
                f"got {request.prompt_tokens} tokens"
            )
        live = Live(request, self.config.max_model_len)
        self._alive[live.id] = live
        self._waiting.add(live)
        if self._record is not None:
            self._record(Arrived(self.number, live.id, live.known))

    def abort(self, request_id: str) -> bool:
        """The client is gone: drop the request, free its blocks. False if it is not alive."""
        live = self._alive.get(request_id)
        if live is None:
            return False
        if live.running:
            self._running.remove(live)
        self._finish(live, "aborted")
        return True

    # One step

    def step(self) -> Step:
        """Plan, let the model run, take the answers in."""
        self.schedule()
        return self.update()

    def schedule(self) -> None:
        """The first half of a step. ValueError if the half before was also this one."""
        if self._begun:
            raise ValueError(f"step {self.number} is planned already, update() comes next")
        self._begun = True
        if not self._alive and self.config.async_scheduling:
            return  # only answers to take in
        plan = self._plan = Plan(self.config.max_num_batched_tokens)
        cap = self._prefill_cap()
        self._running_pass(plan, cap)
        if self._may_admit(plan):
            self._admission_pass(plan, cap)
        if self.config.async_scheduling:
            for live in plan.sampling:
                live.promised += 1
        self._in_flight.append(plan)
        if self._record is not None:
            self._tell_plan(plan)

    def update(self) -> Step:
        """The second half: answers come back, requests end. ValueError if schedule() was not called."""
        if not self._begun:
            raise ValueError(f"step {self.number} is not planned yet, schedule() comes first")
        plan, self._plan, self._begun = self._plan, None, False
        sampled: tuple[str, ...] = ()
        finished: list[Live] = []
        answered = self._answers_due(plan)
        if answered:
            sampling = self._in_flight.popleft().sampling
            sampled = tuple([live.id for live in sampling])
            finished = self._take_answers(sampling)
        ended = tuple([live.id for live in finished])
        step = _step(self.number, plan, sampled, ended, answered)
        self.number += 1
        return step

    # Running pass

    def _prefill_cap(self) -> int:
        """Most tokens of one request in this step; no cap for a request that is alone."""
        threshold = self.config.long_prefill_token_threshold
        return threshold if threshold and len(self._alive) > 1 else NEVER

    def _running_pass(self, plan: Plan, cap: int) -> None:
        """Give every running request the tokens it has to catch up, from the front, while the budget lasts.

        This loop is the engine's hot path: a decode (one token, a slot ready) goes through it without a call.
        """
        running = self._running
        scheduled, sampling = plan.scheduled.append, plan.sampling.append
        publish = self.memory.publish
        index, left = 0, plan.left
        while index < len(running) and left:
            live = running[index]
            done = live.done
            length = live.known + live.promised
            n = length - done
            if n != 1 or live.promised:
                n = self._wanted(live, left, cap)
                if n == 0:
                    index += 1
                    continue
            upto = done + n
            if upto > live.slots:
                plan.index, plan.left = index, left
                fits = self._make_room(plan, live, upto)
                index, left = plan.index, plan.left
                if not fits:
                    if self._ends_pass():
                        break
                    continue
            live.done = upto
            if upto >= live.publish_at:
                publish(live, min(upto, live.known))
            if upto == length:
                sampling(live)
            scheduled(_new(Scheduled, (live.id, n, done)))
            left -= n
            index += 1
        plan.left = left

    def _wanted(self, live: Live, left: int, cap: int) -> int:
        """Tokens a running request computes now; 0 if its end is surely in flight."""
        if live.promised > 0 and live.done + 2 - live.promised >= live.foreseen:
            return 0
        n = live.known + live.promised - live.done
        return max(0, min(n, cap, left, self.config.max_model_len - 1 - live.done))

    def _make_room(self, plan: Plan, live: Live, upto: int) -> bool:
        """Grow its table, preempting until it fits; False if it was itself the victim."""
        count = self.memory.growth(live, upto)
        while not self.memory.pool.can_take(count):
            victim = self._victim()
            self._unplan(plan, victim)
            self._preempt(plan, victim, live, count)
            if victim is live:
                return False
        pages = len(live.table)
        taken = self.memory.grow(live, count)
        if self._record is not None:
            self._tell_taken(live, taken, pages)
        return True

    def _ends_pass(self) -> bool:
        """Whether a request that threw itself out ends the running pass."""
        return self.config.policy == "fcfs" or self.config.self_preemption_ends_pass

    # Preemption

    def _victim(self) -> Live:
        """FCFS: the latest admitted. Priority: the first of the least urgent."""
        if self.config.policy == "fcfs":
            return self._running[-1]
        return max(self._running, key=lambda live: live.urgency)

    def _unplan(self, plan: Plan, victim: Live) -> None:
        """Take a victim out of this step's plan if it is in it (priority only)."""
        if victim not in self._running[: plan.index]:
            return
        if self.config.shift_for_priority_victims:
            plan.index -= 1
        for place, entry in enumerate(plan.scheduled):
            if entry.id == victim.id:
                del plan.scheduled[place]
                if self.config.refund_priority_victims:
                    plan.left += entry.tokens
                break
        if victim in plan.sampling:
            plan.sampling.remove(victim)

    def _preempt(self, plan: Plan, victim: Live, live: Live, count: int) -> None:
        """Throw a running request out: its blocks are free at once, its answers kept, back into the queue."""
        lost, free = victim.done, self.memory.pool.free_count
        self._running.remove(victim)
        released = self.memory.release(victim)
        victim.running = False
        victim.resumed = True
        self._waiting.put_back(victim)
        plan.preempted.append(victim.id)
        if self._record is not None:
            why = "latest" if self.config.policy == "fcfs" else "least-urgent"
            self._record(PreemptedEvent(self.number, victim.id, live.id, count, free, why, lost, released))

    # Admission pass

    def _may_admit(self, plan: Plan) -> bool:
        """Nobody comes in in a step that preempted."""
        return not plan.preempted

    def _admission_pass(self, plan: Plan, cap: int) -> None:
        """Let waiting requests in from the head of the queue, until one cannot go."""
        passed_over: list[Live] = []
        while plan.left and self._waiting and self._has_slot():
            live = self._waiting.head()
            hits = self.memory.cached(live)
            start = len(hits) * self.config.block_size
            n = min(live.known - start, cap)
            if n > plan.left and not self.config.enable_chunked_prefill:
                plan.stopped = ("tokens", Demand(n, plan.left, 0, 0))
                if not self.config.skip_too_long_without_chunking:
                    break
                self._waiting.remove(live)
                passed_over.append(live)
                continue
            n = min(n, plan.left)
            demand = self.memory.admission(live, hits, start + n, bool(self._running))
            if not demand.fits:
                plan.stopped = ("blocks", demand)
                break
            self._admit(plan, live, hits, demand.take, n)
        for live in reversed(passed_over):
            self._waiting.put_back(live)

    def _has_slot(self) -> bool:
        return len(self._running) < self.config.max_num_seqs

    def _admit(self, plan: Plan, live: Live, hits: list[int], take: int, n: int) -> None:
        """From the queue to the end of `running`, with its first tokens planned."""
        start = len(hits) * self.config.block_size
        self._waiting.remove(live)
        self._running.append(live)
        live.running = True
        taken = self.memory.admit(live, hits, take)
        live.done = start + n
        if live.done >= live.publish_at:
            self.memory.publish(live, live.done)
        (plan.resumed if live.resumed else plan.admitted).append(Admitted(live.id, start))
        plan.scheduled.append(Scheduled(live.id, n, start))
        plan.left -= n
        if live.done == live.known:
            plan.sampling.append(live)
        if self._record is not None:
            self._tell_admitted(live, hits, taken)

    # Answers

    def _answers_due(self, plan: Plan | None) -> bool:
        """Answers come when the pipeline is full, or when nothing new was planned."""
        return bool(self._in_flight) and (plan is None or len(self._in_flight) == self._depth)

    def _take_answers(self, sampling: list[Live]) -> list[Live]:
        """One token for each request that had computed all it knew; the ended ones leave."""
        finished = []
        asynchronous = self.config.async_scheduling
        for live in sampling:
            if live.finished:
                continue  # an answer that nobody waits for any more
            live.known += 1
            if asynchronous:
                self._keep_promise(live)
            if live.known >= live.end:
                self._finish(live, "")
                finished.append(live)
        if finished:
            self._running = [live for live in self._running if not live.finished]
        return finished

    def _keep_promise(self, live: Live) -> None:
        """A promised token is known now, so blocks it filled can be published."""
        live.promised -= 1
        if live.running and live.done - live.promised >= live.publish_at:
            self.memory.publish(live, live.done - live.promised)

    def _finish(self, live: Live, why: str) -> None:
        """Free its memory at once; `running` is cleaned by the caller."""
        if live.running:
            self.memory.release(live)
        else:
            self._waiting.remove(live)
        live.finished = True
        live.running = False
        del self._alive[live.id]
        if self._record is not None:
            self._record(FinishedEvent(self.number, live.id, live.answers, why or self._why_finished(live)))

    def _why_finished(self, live: Live) -> str:
        """Tested in vLLM's order: stop token, model length, max_tokens."""
        if live.answers == live.request.stop_after:
            return "stop"
        return "model-length" if live.known >= self.config.max_model_len else "max-tokens"

    # Events, only made for a recorder

    def _tell_plan(self, plan: Plan) -> None:
        if self._record is None:
            return
        for entry in plan.scheduled:
            self._record(ScheduledEvent(self.number, *entry))
        head = ""
        for live in self._waiting:
            why, demand = self._why_waiting(plan)
            needs, free, kept = (demand.needs, demand.free, demand.watermark) if demand else (0, 0, 0)
            reason = "behind" if head and why in ("blocks", "tokens") else why
            behind = head if reason == "behind" else ""
            self._record(WaitingEvent(self.number, live.id, reason, needs, free, kept, behind))
            head = head or live.id

    def _why_waiting(self, plan: Plan) -> tuple[str, Demand | None]:
        """Why the head of the queue waits, with the figures."""
        if plan.preempted:
            return "preemption", None
        if plan.stopped[0]:
            return plan.stopped
        if not self._has_slot():
            return "slots", Demand(1, 0, 0, 0)
        return "tokens", Demand(1, plan.left, 0, 0)

    def _tell_admitted(self, live: Live, hits: list[int], taken: list[int]) -> None:
        if self._record is None:
            return
        tokens = len(hits) * self.config.block_size
        self._record(AdmittedEvent(self.number, live.id, tuple(hits), tokens, live.resumed))
        for page, block in enumerate(hits, 1):
            references = self.memory.pool.reference_count(block)
            self._record(BlockShared(self.number, live.id, block, page, references))
        self._tell_taken(live, taken, len(hits))

    def _tell_taken(self, live: Live, taken: list[int], pages: int) -> None:
        if self._record is None:
            return
        for page, block in enumerate(taken, pages + 1):
            self._record(BlockTaken(self.number, live.id, block, page))


def _step(
    number: int, plan: Plan | None, sampled: tuple[str, ...], finished: tuple[str, ...], answered: bool
) -> Step:
    """The Step of a plan (None: nothing was planned) and of the answers that came back."""
    if plan is None:
        return Step(number, sampled=sampled, finished=finished, planned=False, answered=answered)
    return Step(
        number=number,
        scheduled=tuple(plan.scheduled),
        tokens=sum(map(_tokens, plan.scheduled)),
        admitted=tuple(plan.admitted),
        resumed=tuple(plan.resumed),
        preempted=tuple(plan.preempted),
        sampled=sampled,
        finished=finished,
        answered=answered,
    )
