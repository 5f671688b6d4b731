"""A state machine over the scheduler: any order of arrivals, aborts and steps keeps the invariants."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sim.engine import EngineConfig, Request, Scheduler
from tests.rules.invariants import check

LONGEST = 20
MOST_STEPS = 3_000


class SchedulerMachine(RuleBasedStateMachine):
    """The pool always holds the largest request, so everything added must end."""

    @initialize(
        size=st.sampled_from((1, 3, 4)),
        spare=st.integers(0, 8),
        seqs=st.integers(1, 4),
        budget=st.integers(4, 24),
        caching=st.booleans(),
        policy=st.sampled_from(("fcfs", "priority")),
        ahead=st.booleans(),
        reserve=st.booleans(),
    )
    def start(self, size, spare, seqs, budget, caching, policy, ahead, reserve):
        self.config = EngineConfig(
            block_size=size,
            num_blocks=1 + -(-LONGEST // size) + spare,
            max_num_seqs=seqs,
            max_num_batched_tokens=budget,
            max_model_len=LONGEST,
            enable_prefix_caching=caching,
            policy=policy,
            async_scheduling=ahead,
            reserve_full_isl=reserve,
        )
        self.engine = Scheduler(self.config)
        self.added = 0
        self.answers: dict[str, int] = {}
        self.expected: dict[str, int] = {}
        self.first_admitted: list[int] = []

    @rule(
        shared=st.integers(0, 9), own=st.integers(1, 9), answers=st.integers(1, 9), urgency=st.integers(0, 1)
    )
    def add(self, shared, own, answers, urgency):
        start = 100 * (self.added + 1)
        prompt = (*range(shared), *range(start, start + own))
        request = Request(f"r{self.added}", prompt, answers, arrival=self.added, priority=urgency)
        self.engine.add(request)
        self.expected[request.id] = request.answers(LONGEST)
        self.answers[request.id] = 0
        self.added += 1

    @precondition(lambda self: self.engine.alive)
    @rule(data=st.data())
    def abort(self, data):
        name = data.draw(st.sampled_from(self.engine.running + self.engine.waiting))
        assert self.engine.abort(name)
        assert not self.engine.abort(name)
        del self.expected[name]

    @rule(times=st.integers(1, 6))
    def step(self, times):
        for _ in range(times):
            self.take(self.engine.step())

    def take(self, step):
        assert (
            step.tokens == sum(entry.tokens for entry in step.scheduled) <= self.config.max_num_batched_tokens
        )
        assert all(entry.tokens >= 1 for entry in step.scheduled)
        assert not step.preempted or not (step.admitted or step.resumed)
        for name in step.sampled:
            self.answers[name] += 1
        for name in step.finished:
            assert self.answers[name] == self.expected.pop(name)
        self.first_admitted += [int(name[1:]) for name, _ in step.admitted]
        if self.config.policy == "fcfs":
            assert self.first_admitted == sorted(self.first_admitted)

    @invariant()
    def holds(self):
        if hasattr(self, "engine"):
            check(self.engine)

    def teardown(self):
        """Progress: with no more arrivals everybody ends, and all memory is free again."""
        if not hasattr(self, "engine"):
            return
        for _ in range(MOST_STEPS):
            if not self.engine.busy:
                break
            self.take(self.engine.step())
        assert not self.engine.busy
        assert not self.expected
        assert self.engine.memory.pool.free_count == self.engine.memory.pool.usable


TestSchedulerMachine = SchedulerMachine.TestCase
TestSchedulerMachine.settings = settings(
    max_examples=150,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
