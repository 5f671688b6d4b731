"""Single rules of the engine on the smallest example that shows them; its events, refusals and switches."""

from __future__ import annotations

import dataclasses

import pytest

from sim import events
from sim.engine import EngineConfig, Request, Scheduler
from sim.policy import Policy


def engine(record=None, hasher=None, **settings) -> Scheduler:
    """A small engine: blocks of 4, no prefix caching unless asked for."""
    small = {"block_size": 4, "num_blocks": 21, "max_num_seqs": 4, "max_num_batched_tokens": 32}
    config = EngineConfig(**{**small, "max_model_len": 64, "enable_prefix_caching": False, **settings})
    return Scheduler(config, record) if hasher is None else Scheduler(config, record, hasher)


def request(name: str, prompt: int, answers: int = 8, **more) -> Request:
    """A request whose prompt is like no other's, unless `start` is given."""
    start = more.pop("start", 1_000 * (1 + sum(map(ord, name))))
    return Request(name, range(start, start + prompt), answers, answer_start=50_000 + start, **more)


def added(scheduler: Scheduler, *requests: Request) -> Scheduler:
    for one in requests:
        scheduler.add(one)
    return scheduler


def names(entries) -> list[str]:
    return [entry.id for entry in entries]


def until_idle(*schedulers: Scheduler):
    """Step all until none is busy; yields their steps. Fails if that takes too long."""
    for _ in range(100):
        if not any(scheduler.busy for scheduler in schedulers):
            return
        yield [scheduler.step() for scheduler in schedulers]
    raise AssertionError("still busy after 100 steps")


# Queues and victims


def test_priority_ties_in_the_queue_are_broken_by_the_id_as_text():
    scheduler = added(
        engine(policy="priority"), request("r2", 4), request("r10", 4), request("r1", 4, priority=1)
    )
    assert scheduler.waiting == ("r10", "r2", "r1")


def test_priority_ties_among_victims_are_broken_by_the_place_in_the_list():
    scheduler = engine(policy="priority", num_blocks=4)
    added(scheduler, request("r9", 4), request("r1", 4), request("r5", 4))
    assert names(scheduler.step().scheduled) == ["r1", "r5", "r9"]
    assert scheduler.step().preempted == ("r1", "r5")
    assert scheduler.running == ("r9",)


def test_a_request_aborted_in_the_priority_queue_can_come_again():
    scheduler = added(engine(policy="priority"), request("a", 4, priority=0), request("b", 4, priority=1))
    assert scheduler.abort("a")
    scheduler.add(request("a", 5, priority=2))
    assert scheduler.waiting == ("b", "a")
    assert names(scheduler.step().scheduled) == ["b", "a"]


def test_several_victims_of_one_step_stand_with_the_last_in_front():
    scheduler = engine(num_blocks=5, long_prefill_token_threshold=8, max_num_batched_tokens=10)
    added(scheduler, request("a", 16), request("b", 1), request("c", 1)).step()
    assert scheduler.running == ("a", "b", "c")
    assert scheduler.step().preempted == ("c", "b")  # a needs two blocks, none is free
    assert scheduler.waiting == ("b", "c")


# Running pass


def test_under_priority_a_self_preemption_goes_on_with_the_next_but_not_in_0_11():
    results = []
    for make in (EngineConfig, EngineConfig.v0_11):
        scheduler = Scheduler(
            make(block_size=4, num_blocks=4, policy="priority", enable_prefix_caching=False)
        )
        added(scheduler, request("v", 3, priority=2)).step()
        added(scheduler, request("u", 2, priority=0), request("w", 2, priority=1)).step()
        step = scheduler.step()  # v stands in front, needs a block, and is the least urgent
        results.append((step.preempted, names(step.scheduled)))
    assert results == [(("v",), ["u", "w"]), (("v",), [])]


def test_a_capped_old_prefill_goes_before_a_younger_decode():
    scheduler = engine(long_prefill_token_threshold=5, max_num_batched_tokens=6)
    added(scheduler, request("long", 20), request("short", 1))
    assert [tuple(entry) for entry in scheduler.step().scheduled] == [("long", 5, 0), ("short", 1, 0)]
    assert [tuple(entry) for entry in scheduler.step().scheduled] == [("long", 5, 5), ("short", 1, 1)]


def test_the_cap_is_ignored_for_a_request_that_is_alone():
    scheduler = added(engine(long_prefill_token_threshold=5), request("long", 20))
    assert scheduler.step().tokens == 20


# Admission


def test_without_chunked_prefill_a_head_too_long_for_the_step_stops_it_and_in_0_11_is_passed_over():
    def first_two(config):
        scheduler = Scheduler(config)
        added(scheduler, request("a", 20), request("b", 20), request("c", 4))
        first = names(scheduler.step().scheduled)
        assert scheduler.waiting == tuple(name for name in "bc" if name not in first)
        return first, names(scheduler.step().admitted)

    settings = {"max_num_batched_tokens": 32, "max_model_len": 32, "enable_chunked_prefill": False}
    assert first_two(EngineConfig(**settings)) == (["a"], ["b", "c"])
    assert first_two(EngineConfig.v0_11(**settings)) == (["a", "c"], ["b"])


def test_the_whole_prompt_must_have_room_but_is_not_reserved():
    scheduler = engine(num_blocks=11, max_num_batched_tokens=8)
    added(scheduler, request("a", 24), request("b", 24))
    scheduler.step()  # a: 8 tokens, 2 blocks
    assert names(scheduler.step().admitted) == []  # the budget goes to a
    both = engine(num_blocks=11, max_num_batched_tokens=10, long_prefill_token_threshold=5)
    added(both, request("a", 24), request("b", 24))
    assert names(both.step().admitted) == ["a", "b"]  # 6 + 6 blocks pass on the same 10
    tight = engine(num_blocks=6)
    assert added(tight, request("a", 21)).step().scheduled == ()  # 6 blocks never fit in 5
    loose = engine(num_blocks=6, reserve_full_isl=False, max_num_batched_tokens=8)
    assert added(loose, request("a", 21)).step().tokens == 8


def test_the_watermark_counts_for_whoever_comes_behind_somebody_admitted_in_the_same_step():
    scheduler = engine(num_blocks=5, watermark=0.25)
    added(scheduler, request("a", 8), request("b", 8))
    assert names(scheduler.step().admitted) == ["a"]
    alone = engine(num_blocks=5, watermark=0.25)
    assert names(added(alone, request("a", 16, 1)).step().admitted) == ["a"]


@pytest.mark.parametrize(
    ("part", "blocks", "kept"), [(0.1, 40, 4), (0.25, 14, 3), (0.25, 3, 0), (0.02, 99, 1), (1, 9, 9)]
)
def test_the_watermark_is_rounded_down_with_the_null_block_counted(part, blocks, kept):
    assert EngineConfig(watermark=part, num_blocks=blocks).watermark_blocks == kept


def test_a_slot_is_taken_until_the_answer_is_back():
    scheduler = engine(max_num_seqs=1, max_num_batched_tokens=8, async_scheduling=True)
    added(scheduler, request("a", 4, 2), request("b", 4))
    steps = [scheduler.step() for _ in range(5)]
    assert [names(step.scheduled) for step in steps] == [["a"], ["a"], [], ["b"], ["b"]]
    assert [step.finished for step in steps] == [(), (), ("a",), (), ()]


# Prefix caching


def test_a_fully_cached_prompt_computes_its_last_block_again():
    scheduler = engine(enable_prefix_caching=True)
    added(scheduler, request("a", 12, start=0), request("b", 12, start=0))
    assert [tuple(entry) for entry in scheduler.step().admitted] == [("a", 0), ("b", 8)]
    assert {name: table.blocks for name, table in scheduler.tables.items()} == {
        "a": (1, 2, 3),
        "b": (1, 2, 4),
    }


def test_of_twin_blocks_the_oldest_published_serves():
    scheduler = engine(enable_prefix_caching=True)
    added(scheduler, request("a", 8, 20, start=0), request("b", 8, 20, start=0))
    scheduler.step()
    scheduler.add(request("c", 9, 20, start=0))
    scheduler.step()
    assert scheduler.tables["c"].blocks[:2] == (1, 2)
    scheduler.abort("a")
    scheduler.add(request("d", 9, 20, start=0))
    scheduler.step()
    assert scheduler.tables["d"].blocks[:2] == (1, 2)


def test_a_colliding_hash_never_gives_a_request_the_blocks_of_another():
    scheduler = engine(enable_prefix_caching=True, hasher=lambda parent, tokens: 1)
    added(scheduler, request("a", 9), request("b", 9), Request("c", (*request("a", 9).prompt, 4, 4, 4, 4), 4))
    assert [entry.cached for entry in scheduler.step().admitted] == [0, 0, 8]


def test_an_answer_in_flight_is_not_published_before_it_is_back():
    scheduler = engine(block_size=1, enable_prefix_caching=True, async_scheduling=True)
    scheduler.add(request("a", 3, 5))
    found = [scheduler.memory.pool.cached_hashes for _ in until_idle(scheduler)]
    assert found == [3, 3, 4, 5, 6, 7, 7]


# The end of a request


def test_a_prompt_as_long_as_the_model_is_refused_and_one_token_less_answers_once():
    scheduler = engine(max_model_len=16)
    with pytest.raises(
        ValueError, match="prompt of 'a' must be shorter than max_model_len 16, got 16 tokens"
    ):
        scheduler.add(request("a", 16))
    assert scheduler.waiting == ()
    scheduler.add(request("a", 15, 9))
    assert scheduler.step().finished == ("a",)


def test_max_tokens_left_out_is_what_the_model_leaves():
    scheduler = engine(max_model_len=16)
    scheduler.add(Request("a", range(12)))
    steps = [scheduler.step() for _ in range(4)]
    assert [step.finished for step in steps] == [(), (), (), ("a",)]


def test_at_the_models_length_nothing_is_planned_ahead():
    scheduler = engine(max_model_len=8, async_scheduling=True)
    scheduler.add(request("a", 6, 30))
    steps = [step for [step] in until_idle(scheduler)]
    assert [[tuple(entry) for entry in step.scheduled] for step in steps] == [
        [("a", 6, 0)],
        [("a", 1, 6)],
        [],
        [],
    ]
    assert steps[2].finished == ("a",)


def test_a_stop_token_is_not_foreseen_so_one_step_is_in_flight_for_nothing():
    scheduler = engine(async_scheduling=True)
    scheduler.add(request("a", 4, 9, stop_after=2))
    steps = [step for [step] in until_idle(scheduler)]
    assert [names(step.scheduled) for step in steps] == [["a"], ["a"], ["a"], []]
    assert [step.finished for step in steps] == [(), (), ("a",), ()]
    assert (steps[3].planned, steps[3].sampled) == (False, ("a",))


def test_a_preempted_request_may_end_while_it_waits():
    scheduler = engine(async_scheduling=True, num_blocks=4)
    added(scheduler, request("a", 7, 5), request("b", 3, 3, stop_after=2))
    seen = [(step.preempted, step.finished) for [step] in until_idle(scheduler)]
    assert (("b",), ("b",)) in seen


def test_a_request_that_outgrows_the_pool_blocks_everybody_behind_it():
    scheduler = added(engine(num_blocks=5), request("a", 14, 10), request("b", 3, 2))
    steps = [scheduler.step() for _ in range(20)]
    assert sum(len(step.preempted) for step in steps) == 1
    assert steps[-1].scheduled == ()
    assert scheduler.waiting == ("a", "b")


def test_those_that_end_together_give_back_in_scheduling_order():
    scheduler = added(engine(), request("a", 4, 1), request("b", 8, 1), request("c", 3, 1))
    assert scheduler.step().finished == ("a", "b", "c")
    assert scheduler.memory.pool.free_ids()[:5] == (4, 3, 2, 1, 5)


def test_abort_between_plan_and_answer_drops_the_answer():
    scheduler = added(engine(), request("a", 4), request("b", 4))
    scheduler.schedule()
    assert scheduler.abort("a")
    step = scheduler.update()
    assert (step.finished, scheduler.running) == ((), ("b",))
    assert scheduler.memory.pool.used_count == 1


# The decisions of 0.11


def test_in_0_11_freed_blocks_go_to_the_end():
    scheduler = Scheduler(EngineConfig.v0_11(block_size=4, num_blocks=6))
    added(scheduler, request("a", 8, 1)).step()
    assert scheduler.memory.pool.free_ids() == (3, 4, 5, 2, 1)


def test_in_0_11_a_planned_victims_tokens_are_lost_and_the_walk_skips_one():
    planned = {"block_size": 4, "num_blocks": 4, "policy": "priority", "enable_prefix_caching": False}
    results = []
    for make in (EngineConfig, EngineConfig.v0_11):
        scheduler = Scheduler(make(**planned))
        scheduler.add(request("z", 2, priority=3))
        scheduler.step()
        added(scheduler, request("x", 4, priority=0), request("y", 3, priority=1))
        scheduler.step()
        step = scheduler.step()  # z is planned, then x needs a block: z goes, y is next
        results.append((step.preempted, [tuple(entry) for entry in step.scheduled]))
    assert results == [
        (("z",), [("x", 1, 4), ("y", 1, 3)]),
        (("z",), [("x", 1, 4)]),
    ]


def test_the_0_11_preset_turns_every_switch_and_takes_settings():
    old = EngineConfig.v0_11(num_blocks=9, reserve_full_isl=True)
    assert (old.num_blocks, old.reserve_full_isl, old.unhashed_to_front) == (9, True, False)
    ours, theirs = EngineConfig(), EngineConfig.v0_11()
    differing = [f.name for f in dataclasses.fields(ours) if getattr(ours, f.name) != getattr(theirs, f.name)]
    assert differing == [
        "reserve_full_isl",
        "unhashed_to_front",
        "skip_too_long_without_chunking",
        "refund_priority_victims",
        "shift_for_priority_victims",
        "self_preemption_ends_pass",
    ]


# Events


def test_events_tell_a_story_in_order():
    told = []
    scheduler = engine(told.append, enable_prefix_caching=True, num_blocks=4, max_num_seqs=2)
    added(scheduler, request("a", 5, 3, start=0), request("b", 5, 9, start=0), request("c", 3))
    scheduler.step()
    assert told == [
        events.Arrived(0, "a", 5),
        events.Arrived(0, "b", 5),
        events.Arrived(0, "c", 3),
        events.AdmittedEvent(0, "a", (), 0, False),
        events.BlockTaken(0, "a", 1, 1),
        events.BlockTaken(0, "a", 2, 2),
        events.AdmittedEvent(0, "b", (1,), 4, False),
        events.BlockShared(0, "b", 1, 1, 2),
        events.BlockTaken(0, "b", 3, 2),
        events.ScheduledEvent(0, "a", 5, 0),
        events.ScheduledEvent(0, "b", 1, 4),
        events.WaitingEvent(0, "c", "slots", 1, 0),
    ]
    told.clear()
    scheduler.step()
    scheduler.step()
    assert events.FinishedEvent(2, "a", 3, "max-tokens") in told


def test_a_preemption_is_told_with_its_reason_and_nobody_comes_in():
    told = []
    scheduler = engine(told.append, num_blocks=4)
    added(scheduler, request("a", 4), request("b", 4), request("c", 4))
    scheduler.step()
    told.clear()
    scheduler.step()
    assert told[:3] == [
        events.PreemptedEvent(1, "c", "a", 1, 0, "latest", 4, 1),
        events.BlockTaken(1, "a", 3, 2),
        events.PreemptedEvent(1, "b", "b", 1, 0, "latest", 4, 1),
    ]
    assert told[-2:] == [
        events.WaitingEvent(1, "b", "preemption", 0, 0),
        events.WaitingEvent(1, "c", "preemption", 0, 0),
    ]
    urgent = []
    scheduler = engine(urgent.append, num_blocks=3, policy="priority")
    added(scheduler, request("a", 4), request("b", 4, priority=1)).step()
    scheduler.step()
    assert events.PreemptedEvent(1, "b", "a", 1, 0, "least-urgent", 4, 1) in urgent


def test_why_somebody_waits_is_told_with_the_figures():
    told = []
    scheduler = engine(told.append, num_blocks=9, watermark=0.25)
    added(scheduler, request("a", 12), request("b", 16), request("c", 3)).step()
    assert told[-2:] == [
        events.WaitingEvent(0, "b", "blocks", 6, 5, 2),
        events.WaitingEvent(0, "c", "behind", 6, 5, 2, "b"),
    ]
    scheduler = engine(told.append, max_num_batched_tokens=8)
    added(scheduler, request("a", 8), request("b", 3)).step()
    assert told[-1] == events.WaitingEvent(0, "b", "tokens", 1, 0)
    scheduler = engine(told.append, enable_chunked_prefill=False, max_model_len=32)
    added(scheduler, request("a", 20), request("b", 20)).step()
    assert told[-1] == events.WaitingEvent(0, "b", "tokens", 20, 12)


def test_eviction_and_every_ending_are_told():
    told = []
    scheduler = engine(told.append, num_blocks=3, enable_prefix_caching=True, max_model_len=12)
    added(scheduler, request("a", 4, 1)).step()
    added(scheduler, request("b", 7, 1)).step()
    assert events.BlockEvicted(1, 1) in told
    added(scheduler, request("c", 3, 5, stop_after=1)).step()
    added(scheduler, request("d", 3))
    scheduler.abort("d")
    added(engine(told.append, max_model_len=8), request("e", 7)).step()
    endings = [(one.request, one.answers, one.why) for one in told if isinstance(one, events.FinishedEvent)]
    assert endings == [
        ("a", 1, "max-tokens"),
        ("b", 1, "max-tokens"),
        ("c", 1, "stop"),
        ("d", 0, "aborted"),
        ("e", 1, "model-length"),
    ]


def test_a_recorder_changes_no_decision():
    silent, loud = (
        engine(num_blocks=8, enable_prefix_caching=True),
        engine([].append, num_blocks=8, enable_prefix_caching=True),
    )
    for number in range(6):
        for scheduler in (silent, loud):
            scheduler.add(request(f"r{number}", 3 + 2 * number, start=0))
    for one, other in until_idle(silent, loud):
        assert one == other


# The interface


def test_the_scheduler_is_a_policy_whose_shares_sum_to_its_capacity():
    policy: Policy = engine(enable_prefix_caching=True)
    assert policy.capacity == 80
    for one in (request("a", 10, start=0), request("b", 10, start=0)):
        policy.add(one)
    policy.step()
    shares = policy.shares()
    assert (shares.holding, shares.reserved, shares.internal, shares.external, shares.free) == (
        12,
        0,
        4,
        0,
        64,
    )
    assert shares.capacity == policy.capacity
    assert policy.busy


def test_bad_calls_name_what_is_wrong_and_change_nothing():
    scheduler = added(engine(), request("a", 4))
    with pytest.raises(ValueError, match="request 'a' is alive already"):
        scheduler.add(request("a", 9))
    with pytest.raises(ValueError, match="step 0 is not planned yet"):
        scheduler.update()
    assert scheduler.progress("a") == (4, 0)
    scheduler.schedule()
    with pytest.raises(ValueError, match="step 0 is planned already"):
        scheduler.schedule()
    scheduler.update()
    assert scheduler.progress("a") == (5, 4)
    assert not scheduler.abort("b")
    with pytest.raises(ValueError, match="no live request 'b'"):
        scheduler.progress("b")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"block_size": 0}, "block_size must be at least 1, got 0"),
        ({"num_blocks": 1}, "num_blocks must be at least 2, got 1"),
        ({"num_blocks": 2.5}, "num_blocks must be a whole number, got 2.5"),
        ({"max_num_seqs": 0}, "max_num_seqs must be at least 1, got 0"),
        (
            {"max_num_seqs": 9, "max_num_batched_tokens": 8},
            "max_num_batched_tokens must be at least 9, got 8",
        ),
        ({"max_model_len": 1}, "max_model_len must be at least 2, got 1"),
        ({"long_prefill_token_threshold": -1}, "long_prefill_token_threshold must be at least 0, got -1"),
        ({"policy": "sjf"}, "policy must be one of fcfs, priority, got 'sjf'"),
        ({"watermark": 1.5}, "watermark must be from 0 to 1, got 1.5"),
        ({"watermark": True}, "watermark must be a number from 0 to 1, got True"),
        ({"reserve_full_isl": 1}, "reserve_full_isl must be True or False, got 1"),
        (
            {"enable_chunked_prefill": False, "max_num_batched_tokens": 100},
            "chunked prefill off.* must be at least 2048, got 100",
        ),
    ],
)
def test_a_bad_setting_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        EngineConfig(**settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"id": ""}, "id must be a text that is not empty, got ''"),
        ({"id": 4}, "id must be a text that is not empty, got 4"),
        ({"prompt": ()}, "prompt length must be at least 1, got 0"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
        ({"arrival": float("nan")}, "arrival must be from 0 to 1000000000000.0, got nan"),
        ({"arrival": -1}, "arrival must be from 0"),
        ({"priority": 0.5}, "priority must be a whole number, got 0.5"),
        ({"stop_after": 0}, "stop_after must be at least 1, got 0"),
        ({"answer_start": "x"}, "answer_start must be a whole number, got 'x'"),
    ],
)
def test_a_bad_request_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        Request(**{"id": "a", "prompt": (1, 2), **settings})
