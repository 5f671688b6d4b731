"""The engine and a naive second one, held against each other on random traffic in random configurations."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.engine import EngineConfig, Request, Scheduler
from tests.rules.naive_engine import NaiveEngine

MOST_STEPS = 120


@st.composite
def configs(draw):
    size = draw(st.sampled_from((1, 2, 4)))
    seqs = draw(st.integers(1, 5))
    longest = draw(st.sampled_from((16, 24)))
    chunked = draw(st.booleans())
    version = draw(st.sampled_from((EngineConfig, EngineConfig, EngineConfig.v0_11)))
    return version(
        block_size=size,
        num_blocks=draw(st.integers(max(3, 12 // size), 40 // size)),
        max_num_seqs=seqs,
        max_num_batched_tokens=draw(st.integers(seqs if chunked else longest, 30)),
        max_model_len=longest,
        enable_prefix_caching=draw(st.booleans()),
        enable_chunked_prefill=chunked,
        long_prefill_token_threshold=draw(st.sampled_from((0, 0, 3))),
        policy=draw(st.sampled_from(("fcfs", "priority"))),
        async_scheduling=draw(st.booleans()),
        **({} if version is not EngineConfig else watermarks(draw)),
    )


def watermarks(draw):
    return {
        "watermark": draw(st.sampled_from((0.0, 0.0, 0.1, 0.25))),
        "reserve_full_isl": draw(st.booleans()),
    }


@st.composite
def traffic(draw, config):
    """[(step, request, step of its abort or None)]"""
    found = []
    for number in range(draw(st.integers(1, 8))):
        arrival = draw(st.integers(0, 12))
        shared = draw(st.integers(0, 10))
        own = draw(st.integers(1, config.max_model_len - 1 - shared))
        request = Request(
            id=f"r{number}",
            prompt=(*range(shared), *range(1_000 * (number % 3 + 1), 1_000 * (number % 3 + 1) + own)),
            max_tokens=draw(st.none() | st.integers(1, 10)),
            arrival=arrival // 2,
            priority=draw(st.integers(0, 2)),
            stop_after=draw(st.none() | st.integers(1, 8)),
            answer_start=10_000 * (number % 2 + 1),
        )
        found.append((arrival, request, draw(st.none() | st.integers(arrival, arrival + 12))))
    return found


@st.composite
def runs(draw):
    config = draw(configs())
    return config, draw(traffic(config))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_two_engines_decide_the_same(run):
    config, requests = run
    engine, naive = Scheduler(config), NaiveEngine(config)
    for number in range(MOST_STEPS):
        for arrival, request, _ in requests:
            if arrival == number:
                engine.add(request)
                naive.add(request)
        for _, request, gone in requests:
            if gone == number:
                engine.abort(request.id)
                naive.abort(request.id)
        step, other = engine.step(), naive.step()
        for field in ("scheduled", "admitted", "resumed", "preempted", "sampled", "finished"):
            assert list(getattr(step, field)) == getattr(other, field), (number, field)
        assert engine.running == tuple(one.id for one in naive.running)
        assert engine.waiting == tuple(one.id for one in naive.waiting)
        assert engine.memory.pool.free_ids() == tuple(naive.free)
        assert {name: list(table) for name, table in engine.tables.items()} == {
            one.id: one.table for one in naive.running
        }
        if not engine.busy and number > 30:
            break
