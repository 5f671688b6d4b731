"""Every interleaving of a few tiny requests in small configurations: the invariants hold, all ends well."""

from __future__ import annotations

from itertools import product

import pytest

from sim.engine import EngineConfig, Request, Scheduler
from tests.rules.invariants import check

REQUESTS = (  # two begin alike, the third is short
    Request("a", (1, 2, 3), 3, arrival=0, priority=1, answer_start=50),
    Request("b", (1, 2, 4, 5), 2, arrival=1, priority=0, answer_start=60),
    Request("c", (7,), 4, arrival=2, priority=1, answer_start=70),
)
MOST_STEPS = 60


def interleavings():
    """Every way to start up to three requests and abort at most one within the first steps.

    Each request arrives at step 0, 1 or 3, in any combination; one may be aborted 0, 2 or 4 steps after.
    """
    for arrivals in product((0, 1, 3), repeat=len(REQUESTS)):
        yield arrivals, None
        for victim, later in product(range(len(REQUESTS)), (0, 2, 4)):
            yield arrivals, (victim, arrivals[victim] + later)


def configs(policy, ahead):
    pools = ((4, 2), (5, 2), (3, 3))  # blocks and their size: the largest request just fits, or a little more
    for (blocks, size), seqs, budget, caching in product(pools, (2, 3), (3, 8), (True, False)):
        yield EngineConfig(
            block_size=size,
            num_blocks=blocks,
            max_num_seqs=seqs,
            max_num_batched_tokens=budget,
            max_model_len=8,
            enable_prefix_caching=caching,
            policy=policy,
            async_scheduling=ahead,
        )


def play(config, arrivals, abort):
    """Run to the end, checking after every step; answers received per request."""
    engine = Scheduler(config)
    received = {request.id: 0 for request in REQUESTS}
    for number in range(MOST_STEPS):
        for request, arrival in zip(REQUESTS, arrivals, strict=True):
            if arrival == number:
                engine.add(request)
        if abort is not None and abort[1] == number:
            engine.abort(REQUESTS[abort[0]].id)
        step = engine.step()
        check(engine)
        for name in step.sampled:
            received[name] += 1
        if number > 8 and not engine.busy:
            break
    assert not engine.busy
    assert engine.memory.pool.free_count == engine.memory.pool.usable
    return received


@pytest.mark.parametrize(("policy", "ahead"), [("fcfs", False), ("fcfs", True), ("priority", False)])
def test_every_interleaving_of_tiny_requests(policy, ahead):
    worlds = 0
    for config in configs(policy, ahead):
        for arrivals, abort in interleavings():
            received = play(config, arrivals, abort)
            gone = None if abort is None else REQUESTS[abort[0]].id
            for request in REQUESTS:
                assert request.id == gone or received[request.id] == request.max_tokens
            worlds += 1
    assert worlds == 24 * 27 * 10
