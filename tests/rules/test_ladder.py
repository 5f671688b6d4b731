"""The ladder against the plain models of naive_ladder.py, against each other, and against the lesson's
batching."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim.buddy
import sim.ladder.prefill_first
import sim.ladder.reserved
import sim.ladder.rung
import sim.ladder.static
from sim import batching
from sim.cost import IN_STEPS
from sim.ladder import LADDER, IterationLevel, LadderConfig, PrefillFirst, StaticBatching
from sim.metrics import run
from sim.policy import Request, Shares
from tests.rules.naive_ladder import (
    NaiveOrca,
    NaiveStatic,
    NaiveV0,
    Seen,
    World,
    random_world,
    watch,
)

Make = Callable[[LadderConfig], Any]
PAIRS: dict[str, tuple[Make, Make]] = {
    "static": (StaticBatching, NaiveStatic),
    "orca-max": (lambda c: IterationLevel(c, "max"), lambda c: NaiveOrca(c, "max")),
    "orca-pow2": (lambda c: IterationLevel(c, "pow2"), lambda c: NaiveOrca(c, "pow2")),
    "orca-oracle": (lambda c: IterationLevel(c, "oracle"), lambda c: NaiveOrca(c, "oracle")),
    "vllm-v0": (PrefillFirst, NaiveV0),
    "nano": (
        lambda c: PrefillFirst(c, spare_block=False),
        lambda c: NaiveV0(c, spare=False),
    ),
}


def first_difference(ours: list[Seen], naive: list[Seen]) -> str:
    """Where two runs differ first, "" if nowhere."""
    for number, (one, other) in enumerate(zip(ours, naive, strict=False)):
        for name in Seen._fields:
            if getattr(one, name) != getattr(other, name):
                return f"step {number} {name}: {getattr(one, name)} but {getattr(other, name)}"
    return "" if len(ours) == len(naive) else f"{len(ours)} steps but {len(naive)}"


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_each_rung_does_what_its_plain_model_does(name: str, seed: int) -> None:
    world = random_world(seed)
    make, model = PAIRS[name]
    assert first_difference(watch(make(world.config), world), watch(model(world.config), world)) == ""


# All policies on the same traffic


def lively_world(seed: int) -> World:
    """Requests that every policy can serve: whatever they reserve fits the memory with room for the
    watermark."""
    world = random_world(seed)
    longest = world.config.max_model_len
    config = LadderConfig(
        slots=4 * max(longest, 16) + seed % 7,
        block_size=world.config.block_size,
        max_model_len=longest,
        max_num_seqs=world.config.max_num_seqs,
        max_num_batched_tokens=world.config.max_num_batched_tokens,
        watermark=world.config.watermark,
        enable_prefix_caching=bool(seed % 2),
    )
    return World(config, tuple((at, r) for at, r in world.arrivals if len(r.prompt) < longest), ())


@pytest.mark.parametrize("name", LADDER)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_every_policy_serves_the_same_traffic(name: str, seed: int) -> None:
    """Everybody ends with the answers the model gives, first come first served, and no slot is lost."""
    world = lively_world(seed)
    config, requests = world.config, [request for _, request in world.arrivals]
    policy = LADDER[name](config)
    report = run(policy, requests, IN_STEPS, most_steps=5000)
    assert not report.stuck
    assert [life.answers for life in report.lives] == [r.answers(config.max_model_len) for r in requests]
    assert report.finished == len(requests)
    admitted = [life.admitted for life in report.lives]
    assert None not in admitted
    assert admitted == sorted(admitted, key=lambda at: at or 0)
    for moment in report.moments:
        assert moment.shares.capacity == policy.capacity == report.capacity
        assert moment.scheduled <= moment.running <= config.max_num_seqs
    assert (policy.running, policy.waiting, policy.busy) == ((), (), False)
    left = policy.shares()
    assert (left.holding, left.reserved, left.internal) == (0, 0, 0)
    assert left.external + left.free == policy.capacity


@pytest.mark.parametrize("name", LADDER)
def test_a_run_repeats_exactly(name: str) -> None:
    world = lively_world(7)
    first, second = (watch(LADDER[name](world.config), world) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", LADDER)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_aborts_lose_no_slot(name: str, seed: int) -> None:
    world = lively_world(seed)
    policy = LADDER[name](world.config)
    gone = []
    for number, (_, request) in enumerate(world.arrivals):
        policy.add(request)
        policy.step()
        assert policy.shares().capacity == policy.capacity
        if number % 2:
            alive = policy.running + policy.waiting
            gone += [one for one in alive[:1] if policy.abort(one)]
        assert policy.shares().capacity == policy.capacity
    assert not any(policy.abort(one) for one in gone)
    assert not any(one in policy.running + policy.waiting for one in gone)
    while policy.running or policy.waiting:
        assert policy.abort((policy.running + policy.waiting)[0])
    assert policy.shares().external + policy.shares().free == policy.capacity


ROOM = LadderConfig(slots=4096, block_size=4, max_model_len=24, max_num_batched_tokens=4096, watermark=0)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_with_room_for_all_iteration_level_and_vllm_plan_the_same(seed: int) -> None:
    """Memory is all that sets them apart: where it is plenty, step after step is equal."""
    world = random_world(seed)
    world = World(ROOM, world.arrivals, world.aborts)
    seen = [
        watch(LADDER[name](ROOM), world) for name in ("orca-max", "orca-oracle", "vllm-0.33", "vllm-0.11")
    ]
    plans = [[(one.step.scheduled, one.step.finished, one.running) for one in run_of] for run_of in seen]
    assert plans[0] == plans[1] == plans[2] == plans[3]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=12), st.integers(1, 6))
def test_static_and_iteration_level_are_those_of_the_lesson(needs: list[int], windows: int) -> None:
    """With one prompt token each a request of n answers takes n rounds, as at the station's windows."""
    config = LadderConfig(slots=256, block_size=1, max_model_len=32, max_num_seqs=windows)
    requests = [Request(f"r{n}", (n,), None, 0, stop_after=need) for n, need in enumerate(needs)]
    for name, table in (
        ("static", batching.static(needs, windows)),
        ("orca-max", batching.continuous(needs, windows)),
    ):
        report = run(LADDER[name](config), requests, IN_STEPS)
        assert len(report.moments) == len(table.rounds)
        assert tuple(life.last for life in report.lives) == table.finish
        assert tuple(life.returned for life in report.lives) == table.returned


# Single facts


def memory_after(policy: Any, request: Request, steps: int) -> Shares:
    """The memory amid the last of `steps` steps of `request` alone."""
    policy.add(request)
    for _ in range(steps - 1):
        policy.step()
    policy.schedule()
    amid: Shares = policy.shares()
    return amid


def test_figure_3_of_the_paper() -> None:
    """A: 7 prompt + 1 generated + 2 to come + 2,038 never used; B: 3 + 1 + 1 + 507 of 512."""
    a = memory_after(
        IterationLevel(LadderConfig(slots=2048)), Request("a", range(7), None, 0, stop_after=4), 2
    )
    assert (a.holding, a.reserved, a.internal, a.external, a.free) == (7 + 1, 2, 2038, 0, 0)
    config = LadderConfig(slots=512, max_model_len=512)
    b = memory_after(IterationLevel(config), Request("b", range(3), None, 0, stop_after=3), 2)
    assert (b.holding, b.reserved, b.internal, b.external, b.free) == (3 + 1, 1, 507, 0, 0)


def test_pow2_reserves_32_for_an_answer_of_25() -> None:
    request = Request("r", range(10), None, 0, stop_after=25)
    assert sim.ladder.reserved.reserve_pow2(request, 2048) - 10 == 32
    assert sim.ladder.reserved.reserve_pow2(request, 40) == 40
    assert sim.ladder.reserved.reserve_oracle(request, 2048) == 10 + 25 - 1
    assert sim.ladder.reserved.reserve_max(request, 2048) == 2048


def test_seven_rows_and_a_rest_in_the_papers_memory() -> None:
    config = LadderConfig()
    requests = [Request(f"r{n}", range(5), 9, 0) for n in range(9)]
    for name in ("static", "orca-max"):
        policy = LADDER[name](config)
        for request in requests:
            policy.add(request)
        step = policy.step()
        assert len(step.admitted) == 15_728 // 2_048 == 7
        assert policy.shares().external == 15_728 - 7 * 2_048 == 1_392


def test_a_static_batch_returns_together_and_then_the_next_begins() -> None:
    policy = StaticBatching(LadderConfig(slots=64, block_size=4, max_model_len=32))
    for name, answers in (("a", 1), ("b", 3), ("c", 1)):
        policy.add(Request(name, (1, 2), answers))
    steps = [policy.step() for _ in range(4)]
    assert [step.finished for step in steps] == [(), (), ("a", "b"), ("c",)]
    assert [step.sampled for step in steps] == [("a", "b"), ("b",), ("b",), ("c",)]
    assert not policy.busy


def test_a_step_of_v0_is_all_prefill_or_all_decode() -> None:
    policy = PrefillFirst(LadderConfig(slots=64, block_size=4, max_model_len=32))
    policy.add(Request("a", range(5), 4))
    assert policy.step().scheduled == (("a", 5, 0),)
    assert policy.step().scheduled == (("a", 1, 5),)
    policy.add(Request("b", range(6), 2))
    assert policy.step().scheduled == (("b", 6, 0),)  # "a" stands still meanwhile
    assert policy.step().scheduled == (("a", 1, 6), ("b", 1, 6))


def test_the_vllm_rungs_have_the_memory_and_settings_of_the_ladder() -> None:
    config = LadderConfig(
        slots=100, block_size=8, max_model_len=20, max_num_batched_tokens=300, watermark=0.5
    )
    assert config.engine().num_blocks == 100 // 8 + 1
    assert config.engine().watermark == 0
    assert config.engine().reserve_full_isl
    assert not config.engine_v0_11().reserve_full_isl
    for name in ("vllm-v0", "vllm-0.11", "vllm-0.33"):
        assert LADDER[name](config).capacity == 96


# Refusals: named, and without effect


@pytest.mark.parametrize(
    ("settings_", "named"),
    [
        ({"slots": 0}, "slots"),
        ({"block_size": 0}, "block_size"),
        ({"block_size": 65}, "block_size"),
        ({"max_model_len": 1}, "max_model_len"),
        ({"max_model_len": 65}, "max_model_len"),
        ({"max_num_seqs": 0}, "max_num_seqs"),
        ({"max_num_batched_tokens": 3, "max_num_seqs": 4}, "max_num_batched_tokens"),
        ({"watermark": 1.5}, "watermark"),
        ({"watermark": float("nan")}, "watermark"),
        ({"enable_prefix_caching": 1}, "enable_prefix_caching"),
    ],
)
def test_bad_settings_are_refused_by_name(settings_: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named} must be"):
        LadderConfig(**{"slots": 64, "max_model_len": 32, **settings_})


def test_a_kind_of_reservation_has_to_exist() -> None:
    with pytest.raises(ValueError, match="kind must be one of max, pow2, oracle, got 'min'"):
        IterationLevel(LadderConfig(), "min")


def test_whole_prefills_want_a_budget_for_the_longest_prompt() -> None:
    with pytest.raises(ValueError, match="max_num_batched_tokens must be at least 32, got 31"):
        PrefillFirst(LadderConfig(slots=64, max_model_len=32, max_num_seqs=2, max_num_batched_tokens=31))


SMALL = LadderConfig(slots=24, block_size=4, max_model_len=20, watermark=0.2)


@pytest.mark.parametrize(
    ("make", "request_", "words"),
    [
        (StaticBatching, Request("a", (1,)), "alive already"),
        (StaticBatching, Request("b", range(20)), "shorter than max_model_len 20, got 20"),
        (IterationLevel, Request("b", (1,)), "wants a piece of 32 slots, the largest there can be has 16"),
        (
            PrefillFirst,
            Request("b", range(19)),
            "may need 5 blocks beyond the watermark of 1, and there are 6",
        ),
    ],
)
def test_a_refused_request_leaves_no_trace(make: Make, request_: Request, words: str) -> None:
    if make is PrefillFirst:
        policy = make(LadderConfig(slots=24, block_size=4, max_model_len=20, watermark=0.4))
        words = words.replace("watermark of 1", "watermark of 2")
    else:
        policy = make(SMALL)
    if make is StaticBatching:
        policy.add(Request("a", (1,), 3))
    before = (policy.running, policy.waiting, policy.shares(), policy.busy)
    with pytest.raises(ValueError, match=words):
        policy.add(request_)
    assert (policy.running, policy.waiting, policy.shares(), policy.busy) == before


@pytest.mark.parametrize("name", ["static", "orca-max", "orca-pow2", "orca-oracle", "vllm-v0"])
def test_the_halves_of_a_step_take_turns(name: str) -> None:
    policy = LADDER[name](LadderConfig())
    with pytest.raises(ValueError, match="step 0 is not planned yet"):
        policy.update()
    policy.add(Request("a", (1,), 2))
    policy.schedule()
    with pytest.raises(ValueError, match="step 0 is planned already"):
        policy.schedule()
    with pytest.raises(ValueError, match="step 0 is planned, abort 'a' after update"):
        policy.abort("a")
    assert policy.update().sampled == ("a",)
    assert policy.step().finished == ("a",)
    assert policy.step().planned is False


# Mutations: each rule and each line of the accounting broken once, and the comparison has to notice

STATIC, RESERVED, V0 = sim.ladder.static, sim.ladder.reserved, sim.ladder.prefill_first
MUTATIONS: list[tuple[str, ModuleType, str, str]] = [
    # the account of static batching
    ("static", STATIC, "if not live.ended:\n                holding", "if True:\n                holding"),
    ("static", STATIC, "live.filled_at_last - live.done", "live.end - live.done"),
    ("static", STATIC, "external = self.capacity % row", "external = 0"),
    (
        "static",
        STATIC,
        "given - holding - reserved, external, free",
        "0, external + given - holding - reserved, free",
    ),
    # its rules
    ("static", STATIC, "if self._running:\n", "if False:\n"),
    (
        "static",
        STATIC,
        "if all(live.ended for live in self._running)",
        "if any(live.ended for live in self._running)",
    ),
    ("static", STATIC, "[: self.rows]", "[: self.rows + 1]"),
    ("static", STATIC, "return list(self._running) if", "return super()._leaving() if True or"),
    # the account of reserved memory
    ("orca-max", RESERVED, "live.filled_at_last - live.done", "live.reserves - live.done"),
    ("orca-pow2", RESERVED, "live.filled_at_last - live.done", "live.end - live.done"),
    ("orca-pow2", RESERVED, "given += live.reserves", "given += live.piece.size"),
    ("orca-oracle", RESERVED, "external = pieces - given + useless", "external = pieces - given"),
    ("orca-oracle", RESERVED, "external = pieces - given + useless", "external = useless"),
    ("orca-oracle", RESERVED, "if head else self._smallest", "if head else 1 << 20"),
    ("orca-pow2", RESERVED, "if head else self._smallest", "if head else 4"),
    ("orca-max", RESERVED, "power_of_two(head.reserves) if head else self._smallest", "self._smallest // 2"),
    (
        "orca-oracle",
        RESERVED,
        "useless = self.allocator.free_below(",
        "useless = 0 * self.allocator.free_below(",
    ),
    # its rules
    ("orca-oracle", RESERVED, "answers(max_model_len) - 1", "answers(max_model_len)"),
    (
        "orca-pow2",
        RESERVED,
        "power_of_two(request.answers(max_model_len)), max_model_len)",
        "power_of_two(request.answers(max_model_len)), 9999)",
    ),
    (
        "orca-pow2",
        RESERVED,
        "power_of_two(request.answers(max_model_len)), max",
        "power_of_two(request.answers(max_model_len) + 1), max",
    ),
    ("orca-max", RESERVED, "len(self._running) < self.config.max_num_seqs and", ""),
    ("orca-oracle", RESERVED, "self.allocator.release(live.piece.start)", "pass"),
    ("orca-oracle", RESERVED, "while (head", "if (head"),
    # paged memory, whole prefills first: account and rules
    ("vllm-v0", V0, "Shares(holding, 0, given - holding, 0,", "Shares(holding, given - holding, 0, 0,"),
    ("vllm-v0", V0, "holding = sum([live.done", "holding = sum([live.known"),
    ("vllm-v0", V0, "if not plan.scheduled:\n", "if True:\n"),
    ("vllm-v0", V0, "left -= self._start", "left -= 0 * self._start"),
    ("vllm-v0", V0, "(head.known) + self._watermark)", "(head.known))"),
    ("vllm-v0", V0, "int(config.watermark * config.blocks)", "-int(-config.watermark * config.blocks // 1)"),
    ("vllm-v0", V0, "len(self._running) >= self.config.max_num_seqs or", ""),
    ("vllm-v0", V0, "or head.known > left", ""),
    ("vllm-v0", V0, "self._preempt(plan, self._running[-1])", "self._preempt(plan, live)"),
    ("vllm-v0", V0, "last=False", "last=True"),
    ("vllm-v0", V0, "victim.done = 0", "pass"),
    ("vllm-v0", V0, "victim.resumed = True", "pass"),
    ("vllm-v0", V0, "1 if self._spare_block else", "0 if self._spare_block else"),
    ("nano", V0, "1 if self._spare_block else", "1 if True else"),
    ("vllm-v0", V0, "self._blocks_for(live.known) - len", "self._blocks_for(live.known + 1) - len"),
    ("vllm-v0", V0, "if self._blocks_for(most) + self._watermark >", "if self._blocks_for(most) >"),
]
CLASSES = {"static": "StaticBatching", "vllm-v0": "PrefillFirst", "nano": "PrefillFirst"}


def mutated(name: str, module: ModuleType, old: str, new: str) -> Make:
    """The rung `name` made from the text of its module with `old` replaced by `new`."""
    text = inspect.getsource(module)
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    broken = ModuleType("broken")
    exec(compile(text.replace(old, new), "broken", "exec"), broken.__dict__)
    rung = getattr(broken, CLASSES.get(name, "IterationLevel"))
    kinds: dict[str, dict[str, Any]] = {"nano": {"spare_block": False}}
    arguments = kinds.get(name, {"kind": name.removeprefix("orca-")} if name.startswith("orca") else {})
    return lambda config: rung(config, **arguments)


def notices(make: Make, model: Make) -> bool:
    """True if a run of some small world differs from the plain model's, or breaks down."""
    for seed in range(150):
        world = random_world(seed)
        expected = watch(model(world.config), world)
        try:
            if first_difference(watch(make(world.config), world, len(expected) + 1), expected):
                return True
        except (ValueError, IndexError):
            return True
    return False


@pytest.mark.parametrize(("name", "module", "old", "new"), MUTATIONS)
def test_every_broken_rule_is_noticed(name: str, module: ModuleType, old: str, new: str) -> None:
    assert notices(mutated(name, module, old, new), PAIRS[name][1])


@pytest.mark.parametrize("name", PAIRS)
def test_unbroken_rungs_are_not_accused(name: str) -> None:
    assert not notices(*PAIRS[name])
