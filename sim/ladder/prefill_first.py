"""PrefillFirst: paged memory, and a step is either all prefill or all decode (models vLLM v0, and
nano-vllm's idea).

Sources: vLLM v0 (core/scheduler.py and block_manager.py, as of 2023/24) and PagedAttention paper section
4.5; for the same two-phase step, nano-vllm's scheduler.py; vidur models vLLM this way too.

Prefill: while the head of the queue fits (blocks for all it knows, beyond the watermark; token budget;
places), it comes in, with its whole prompt computed at once. Decode, only if nobody came in: everybody in
order of arrival computes one token; if the blocks run out, the newest is thrown out, to the front of the
queue, and is computed again from the start later. The watermark is not asked of a decode.

Deliberate differences from vLLM v0
* Recompute only; v0 swapped to the CPU what had several sequences. One sequence a request, no prefix cache.
* The budget counts the tokens themselves (as later v0 did), not batch size x longest prompt with padding.
* A request that could outgrow the memory is refused when it comes. v0 refuses to start with a memory smaller
  than one request of max_model_len, but drops one that grew so far that its recomputation cannot pass the
  watermark.
Deliberate differences from nano-vllm: no chunk of a prompt that exceeds the budget; a watermark; a decode
wants a spare block even if its last one is not full (v0's rule; `spare_block=False` is nano-vllm's: only one
that begins a block needs one); freed blocks are used again first.
"""

from __future__ import annotations

from sim.block_pool import BlockPool
from sim.block_table import BlockTable
from sim.checks import in_range, yes_or_no
from sim.ladder.config import LadderConfig
from sim.ladder.rung import Live, Plan, Rung
from sim.policy import Request, Shares


class Paged(Live):
    """A request with its block table."""

    __slots__ = ("table",)

    def __init__(self, request: Request, max_model_len: int) -> None:
        super().__init__(request, max_model_len)
        self.table = BlockTable()


class PrefillFirst(Rung[Paged]):
    """Whole prefill steps before decode steps, over a BlockPool (`pool`).

    spare_block  True: a decode goes only while at least one block is free, whether it needs it or not (vLLM
                 v0).

    ValueError if the token budget of `config` is smaller than max_model_len: a prompt is never cut.
    """

    def __init__(self, config: LadderConfig, *, spare_block: bool = True) -> None:
        in_range("max_num_batched_tokens", config.max_num_batched_tokens, config.max_model_len)
        super().__init__(config)
        self.pool = BlockPool(config.blocks + 1)
        self._spare_block = yes_or_no("spare_block", spare_block)
        self._watermark = int(config.watermark * config.blocks)

    @property
    def capacity(self) -> int:
        """Token slots of the whole blocks."""
        return self.pool.usable * self.config.block_size

    def shares(self) -> Shares:
        """Blocks in use hold tokens up to the unfilled rest of each last one."""
        size = self.config.block_size
        holding = sum([live.done for live in self._running])
        given = self.pool.used_count * size
        return Shares(holding, 0, given - holding, 0, self.pool.free_count * size)

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.config.block_size)

    def _new_live(self, request: Request) -> Paged:
        live = Paged(request, self.config.max_model_len)
        longest = self.config.max_model_len
        most = min(request.prompt_tokens + request.limit(longest), longest) - 1
        if self._blocks_for(most) + self._watermark > self.pool.usable:
            raise ValueError(
                f"{request.id!r} can not be served for sure: it may need {self._blocks_for(most)} blocks "
                f"beyond the watermark of {self._watermark}, and there are {self.pool.usable}"
            )
        return live

    def _fill(self, plan: Plan) -> None:
        self._prefill(plan)
        if not plan.scheduled:
            self._decode(plan)

    def _prefill(self, plan: Plan) -> None:
        left = self.config.max_num_batched_tokens
        while (head := self._head()) and self._may_come_in(head, left):
            head.table.extend(self.pool.take(self._blocks_for(head.known)))
            left -= self._start(plan, head)

    def _may_come_in(self, head: Paged, left: int) -> bool:
        """Places, token budget, and blocks beyond the watermark."""
        if len(self._running) >= self.config.max_num_seqs or head.known > left:
            return False
        return self.pool.can_take(self._blocks_for(head.known) + self._watermark)

    def _decode(self, plan: Plan) -> None:
        """Everybody in order of arrival, the newest thrown out while there is no room.

        v0 sorts by arrival here. There is nothing to sort: who is thrown out comes in again before all newer
        ones.
        """
        index = 0
        while index < len(self._running):
            live = self._running[index]
            if self._can_grow(live):
                if missing := self._missing(live):
                    live.table.extend(self.pool.take(missing))
                plan.schedule(live)
                index += 1
            else:
                self._preempt(plan, self._running[-1])

    def _missing(self, live: Paged) -> int:
        """Blocks it needs for the one token of a decode: 0 or 1."""
        return self._blocks_for(live.known) - len(live.table)

    def _can_grow(self, live: Paged) -> bool:
        return self.pool.can_take(1 if self._spare_block else self._missing(live))

    def _preempt(self, plan: Plan, victim: Paged) -> None:
        """Its blocks are free at once, its answers kept; to the front of the queue."""
        self._leave(victim)
        victim.done = 0
        victim.resumed = True
        self._waiting[victim.id] = victim
        self._waiting.move_to_end(victim.id, last=False)
        plan.preempted.append(victim.id)

    def _release(self, live: Paged) -> None:
        self.pool.release(live.table)
        live.table = BlockTable()
