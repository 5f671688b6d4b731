"""The rules of the engine, each with a way to break it, and who notices.

A mutation replaces a piece of one function's source by another, so the table reads like the rule it breaks.
`noticed` names a recording in tests/traces that then replays differently, or `test:NAME`, a function of
tests/rules/test_engine_rules.py that then fails. test_mutations.py tries every row.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from dataclasses import dataclass
from typing import Any

import pytest

from sim.block_pool import BlockPool
from sim.engine.live import Live
from sim.engine.memory import Memory
from sim.engine.queues import FcfsQueue, PriorityQueue
from sim.engine.scheduler import Scheduler
from sim.policy import Request


@dataclass(frozen=True)
class Mutation:
    """`owner.method` with `old` (which occurs once in it) replaced by `new` breaks `rule`."""

    rule: str
    owner: type
    method: str
    old: str
    new: str
    noticed: str

    def apply(self, patch: pytest.MonkeyPatch) -> None:
        """Put the broken method in place until `patch` is undone."""
        original = inspect.getattr_static(self.owner, self.method)
        function = getattr(original, "fget", None) or getattr(original, "__func__", None) or original
        source = textwrap.dedent(inspect.getsource(function))
        if source.count(self.old) != 1:
            raise ValueError(f"{self.method} has {source.count(self.old)} times {self.old!r}, must be once")
        module = sys.modules[self.owner.__module__]
        scope: dict[str, Any] = {}
        exec(compile(source.replace(self.old, self.new), f"<{self.rule}>", "exec"), vars(module), scope)
        patch.setattr(self.owner, self.method, scope[self.method])


MUTATIONS = (
    # The pool
    Mutation(
        "the null block is counted in num_blocks",
        Memory,
        "__init__",
        "BlockPool(config.num_blocks,",
        "BlockPool(config.num_blocks + 1,",
        "x_outgrows_pool",
    ),
    Mutation(
        "several blocks keep queue order",
        BlockPool,
        "_cut_front",
        "return taken",
        "return taken[::-1]",
        "x_outgrows_pool",
    ),
    Mutation(
        "a table is released from its tail",
        BlockPool,
        "release",
        "reversed(table)",
        "table",
        "x_outgrows_pool",
    ),
    Mutation(
        "freed blocks without a hash go to the front",
        BlockPool,
        "_queue_freed",
        "is None and self._unhashed_to_front",
        "is None and False",
        "e_nochunk_48",
    ),
    Mutation(
        "freed blocks with a hash go to the end",
        BlockPool,
        "_queue_freed",
        "self._prefix[block] is None and self._unhashed_to_front",
        "True",
        "c_identical_prompts",
    ),
    Mutation(
        "... without a hash in walked order",
        BlockPool,
        "_queue_freed",
        "front = block",
        "pass",
        "x_outgrows_pool",
    ),
    Mutation(
        "of twin blocks the oldest published is found",
        BlockPool,
        "find",
        "self._by_hash.get(prefix.hash, ())",
        "reversed(self._by_hash.get(prefix.hash, {}))",
        "c_duplicates",
    ),
    Mutation(
        "token ids are compared on a hit",
        BlockPool,
        "find",
        "held.same_as(prefix)",
        "True",
        "test:test_a_colliding_hash_never_gives_a_request_the_blocks_of_another",
    ),
    Mutation(
        "a handed out block loses its hash",
        BlockPool,
        "_evict",
        "self._forget(block)",
        "pass",
        "c_duplicates",
    ),
    # The queues
    Mutation(
        "priority ties are broken by the id as text",
        PriorityQueue,
        "order",
        "(*live.urgency, live.id)",
        "(*live.urgency, int(live.id[1:]))",
        "g_priority_ties_68",
    ),
    Mutation(
        "a preempted request goes to the front (FCFS)",
        FcfsQueue,
        "put_back",
        "self._waiting.move_to_end(live.id, last=False)",
        "pass",
        "x_outgrows_pool",
    ),
    Mutation(
        "urgency is priority, then arrival",
        Live,
        "urgency",
        "self.request.priority, self.request.arrival",
        "self.request.priority, 0",
        "g_priority_prefix_70",
    ),
    Mutation(
        "a smaller priority is served earlier",
        Live,
        "urgency",
        "self.request.priority, self",
        "-self.request.priority, self",
        "g_priority_prefix_70",
    ),
    # Running pass
    Mutation(
        "a request with nothing to do is skipped, the pass goes on",
        Scheduler,
        "_running_pass",
        "index += 1\n                continue",
        "break",
        "y_async_stop_99",
    ),
    Mutation(
        "the running pass ends when the budget is used up",
        Scheduler,
        "_wanted",
        "min(n, cap, left, ",
        "min(n, cap, ",
        "x_model_len_2",
    ),
    Mutation(
        "under priority a self-preemption does not end the pass",
        Scheduler,
        "_ends_pass",
        'self.config.policy == "fcfs"',
        "True",
        "g_priority_63",
    ),
    Mutation(
        "the long-prefill cap holds in the running pass",
        Scheduler,
        "_wanted",
        "min(n, cap, left",
        "min(n, left",
        "e_long_prefill_45",
    ),
    Mutation(
        "the long-prefill cap holds at admission",
        Scheduler,
        "_admission_pass",
        "min(live.known - start, cap)",
        "live.known - start",
        "e_long_prefill_45",
    ),
    Mutation(
        "the cap is ignored for a request that is alone",
        Scheduler,
        "_prefill_cap",
        "len(self._alive) > 1",
        "self._alive",
        "e_long_prefill_45",
    ),
    Mutation(
        "running requests are in admission order",
        Scheduler,
        "_admit",
        "self._running.append(live)",
        "self._running.insert(0, live)",
        "e_nochunk_48",
    ),
    # Preemption
    Mutation(
        "nobody is admitted in a step that preempted",
        Scheduler,
        "_may_admit",
        "not plan.preempted",
        "True",
        "y_async_stop_99",
    ),
    Mutation(
        "the latest admitted is the victim (FCFS)",
        Scheduler,
        "_victim",
        "self._running[-1]",
        "self._running[0]",
        "y_async_stop_99",
    ),
    Mutation(
        "the least urgent is the victim (priority)",
        Scheduler,
        "_victim",
        "live.urgency",
        "live.request.arrival",
        "g_priority_64",
    ),
    Mutation(
        "... the first such in the list",
        Scheduler,
        "_victim",
        "max(self._running,",
        "max(reversed(self._running),",
        "g_priority_ties_67",
    ),
    Mutation(
        "... ties not broken by the id",
        Scheduler,
        "_victim",
        "live.urgency",
        "(live.urgency, live.id)",
        "g_priority_ties_67",
    ),
    Mutation(
        "a planned victim's tokens go back to the budget",
        Scheduler,
        "_unplan",
        "self.config.refund_priority_victims",
        "False",
        "g_priority_refund_1085",
    ),
    Mutation(
        "a planned victim moves the walk back",
        Scheduler,
        "_unplan",
        "self.config.shift_for_priority_victims",
        "False",
        "g_priority_64",
    ),
    Mutation(
        "a planned victim is taken out of the plan",
        Scheduler,
        "_unplan",
        "del plan.scheduled[place]",
        "pass",
        "g_priority_64",
    ),
    Mutation(
        "a planned victim gives no answer",
        Scheduler,
        "_unplan",
        "plan.sampling.remove(victim)",
        "pass",
        "g_priority_64",
    ),
    Mutation(
        "a victim keeps its answers",
        Live,
        "forget",
        "self.done = 0",
        "self.done = 0; self.known = self.prompt",
        "x_outgrows_pool",
    ),
    Mutation(
        "a victim counts as resumed later",
        Scheduler,
        "_preempt",
        "victim.resumed = True",
        "pass",
        "y_async_stop_99",
    ),
    # Admission
    Mutation(
        "a running request keeps its slot while it gets no tokens",
        Scheduler,
        "_has_slot",
        "len(self._running)",
        "sum(1 for live in self._running if live.promised < 1)",
        "test:test_a_slot_is_taken_until_the_answer_is_back",
    ),
    Mutation(
        "a head that does not fit blocks those behind",
        Scheduler,
        "_admission_pass",
        'plan.stopped = ("blocks", demand)\n            break',
        "self._waiting.remove(live); passed_over.append(live); continue",
        "x_outgrows_pool",
    ),
    Mutation(
        "without chunked prefill a head longer than the budget stops the pass",
        Scheduler,
        "_admission_pass",
        "if not self.config.skip_too_long_without_chunking:\n                break",
        "",
        "e_nochunk_48",
    ),
    Mutation(
        "without chunked prefill a prompt is not cut",
        Scheduler,
        "_admission_pass",
        "not self.config.enable_chunked_prefill",
        "False",
        "e_nochunk_48",
    ),
    Mutation(
        "a resumed request recomputes its answers too",
        Scheduler,
        "_admission_pass",
        "min(live.known - start, cap)",
        "min(live.prompt - start, cap)",
        "y_async_stop_99",
    ),
    Mutation(
        "the prefix lookup is made again for a preempted request",
        Memory,
        "cached",
        "if self._caching:",
        "if self._caching and not live.resumed:",
        "y_async_stop_98",
    ),
    Mutation(
        "the whole prompt must have room",
        Memory,
        "admission",
        "if self._reserve_full",
        "if False",
        "x_model_len_2",
    ),
    Mutation(
        "... as a check, not a reservation",
        Memory,
        "admission",
        "self.pool.free_count, take, watermark",
        "self.pool.free_count, max(take, whole), watermark",
        "c_prefix_chunked_28",
    ),
    Mutation(
        "hits are subtracted from the whole prompt",
        Memory,
        "admission",
        "self._max_model_len)) - len(hits)",
        "self._max_model_len))",
        "y_async_stop_98",
    ),
    Mutation(
        "hits in the free queue are charged",
        Memory,
        "admission",
        "+ self._free_hits(hits)",
        "",
        "x_model_len_2",
    ),
    Mutation(
        "hits that somebody holds are not charged",
        Memory,
        "_free_hits",
        "if self.pool.reference_count(block) == 0",
        "",
        "y_async_stop_98",
    ),
    Mutation(
        "hits are taken before new blocks",
        Memory,
        "admit",
        "for block in hits:\n        self.pool.share(block)\n    taken = self.pool.take(take)",
        "taken = self.pool.take(take)\n    for block in hits:\n        self.pool.share(block)",
        "x_model_len_2",
    ),
    Mutation(
        "the watermark is kept back",
        Memory,
        "admission",
        "self._watermark if others",
        "0 if others",
        "g_priority_prefix_70",
    ),
    Mutation(
        "... only if somebody runs",
        Memory,
        "admission",
        "self._watermark if others else 0",
        "self._watermark",
        "b_watermark_alone_1002",
    ),
    Mutation(
        "... also somebody admitted in this step",
        Scheduler,
        "_admission_pass",
        "bool(self._running)",
        "len(self._running) > len(plan.admitted) + len(plan.resumed)",
        "test:test_the_watermark_counts_for_whoever_comes_behind_somebody_admitted_in_the_same_step",
    ),
    Mutation(
        "... not for growth",
        Scheduler,
        "_make_room",
        "self.memory.pool.can_take(count)",
        "self.memory.pool.can_take(count + self.config.watermark_blocks)",
        "b_watermark_alone_1002",
    ),
    # The prefix cache
    Mutation(
        "one token is always computed again",
        Memory,
        "_findable",
        "(live.known - 1)",
        "live.known",
        "c_identical_prompts",
    ),
    Mutation(
        "blocks are findable when planned, by those admitted in the same step",
        Scheduler,
        "_admit",
        "self.memory.publish(live, live.done)",
        "self.memory.publish(live, start)",
        "c_identical_prompts",
    ),
    Mutation(
        "... also in the running pass",
        Scheduler,
        "_running_pass",
        "publish(live, min(upto, live.known))",
        "publish(live, done)",
        "c_identical_prompts",
    ),
    Mutation(
        "blocks with answers are published too",
        Scheduler,
        "_running_pass",
        "publish(live, min(upto, live.known))",
        "publish(live, min(upto, live.prompt))",
        "c_identical_prompts",
    ),
    # Answers
    Mutation(
        "an unfinished chunk gives no answer",
        Scheduler,
        "_running_pass",
        "if upto == length:",
        "if True:",
        "x_model_len_2",
    ),
    Mutation(
        "... nor at admission",
        Scheduler,
        "_admit",
        "if live.done == live.known:",
        "if True:",
        "c_prefix_chunked_28",
    ),
    Mutation(
        "those that finish give back in scheduling order",
        Scheduler,
        "_take_answers",
        "for live in sampling:",
        "for live in reversed(sampling):",
        "e_nochunk_48",
    ),
    Mutation(
        "the model's length ends a request",
        Request,
        "answers",
        "min(self.limit(max_model_len), max_model_len - len(self.prompt))",
        "self.limit(max_model_len)",
        "x_model_len",
    ),
    Mutation(
        "max_tokens ends a request", Request, "limit", "if self.max_tokens is None", "if True", "e_nochunk_48"
    ),
    Mutation(
        "a stop token ends a request",
        Request,
        "answers",
        "if self.stop_after is None",
        "if True",
        "y_async_stop_99",
    ),
    Mutation(
        "an aborted request leaves the running",
        Scheduler,
        "abort",
        "self._running.remove(live)",
        "pass",
        "y_async_stop_99",
    ),
    Mutation(
        "a prompt as long as the model is refused",
        Scheduler,
        "add",
        ">= self.config.max_model_len",
        "> self.config.max_model_len",
        "test:test_a_prompt_as_long_as_the_model_is_refused_and_one_token_less_answers_once",
    ),
    Mutation(
        "an aborted request gives its blocks back",
        Scheduler,
        "_finish",
        "self.memory.release(live)",
        "self.memory.release(live) if why != 'aborted' else None",
        "y_async_stop_99",
    ),
    Mutation(
        "the others keep their order when some finish",
        Scheduler,
        "_take_answers",
        "for live in self._running if",
        "for live in reversed(self._running) if",
        "e_nochunk_48",
    ),
    # Asynchronous scheduling
    Mutation(
        "a request sure to end in flight is skipped",
        Scheduler,
        "_wanted",
        "return 0",
        "pass",
        "y_async_stop_99",
    ),
    Mutation(
        "... neither earlier", Scheduler, "_wanted", "live.done + 2 -", "live.done + 3 -", "y_async_stop_99"
    ),
    Mutation("... nor later", Scheduler, "_wanted", "live.done + 2 -", "live.done + 1 -", "y_async_stop_99"),
    Mutation(
        "a request at the model's length gets no token in flight",
        Scheduler,
        "_wanted",
        "self.config.max_model_len - 1",
        "self.config.max_model_len",
        "test:test_at_the_models_length_nothing_is_planned_ahead",
    ),
    Mutation(
        "a block filled by an answer is published when it arrives",
        Scheduler,
        "_keep_promise",
        "live.running and",
        "False and",
        "y_async_prefix_97",
    ),
    Mutation(
        "... before a finishing request gives back",
        Scheduler,
        "_take_answers",
        "self._keep_promise(live)",
        "self._keep_promise(live) if live.known < live.end else None",
        "y_async_prefix_97",
    ),
    Mutation(
        "a preempted request gets its answer in flight",
        Scheduler,
        "_take_answers",
        "if live.finished:",
        "if live.finished or not live.running:",
        "y_async_stop_99",
    ),
    Mutation(
        "... and leaves the queue if that ends it",
        Scheduler,
        "_finish",
        "self._waiting.remove(live)",
        "pass",
        "x_abort_stop_73",
    ),
    Mutation(
        "promised tokens are not published",
        Scheduler,
        "_running_pass",
        "min(upto, live.known)",
        "upto",
        "y_async_stop_98",
    ),
    Mutation(
        "answers come one step later",
        Scheduler,
        "__init__",
        "2 if config.async_scheduling else 1",
        "1",
        "y_async_stop_99",
    ),
)
