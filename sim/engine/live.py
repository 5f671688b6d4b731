"""Live: one request while the engine has it."""

from __future__ import annotations

from sim.block_table import BlockTable
from sim.policy import STOP_TOKEN, Request
from sim.prefix import Prefix

NEVER = 1 << 62


class Live:
    """The state of one request: how many tokens are known and computed, and where its KV lies.

    prompt     length of the prompt.
    known      prompt + answers received so far.
    promised   answers in flight, known only by their number (asynchronous scheduling).
    done       tokens whose KV is computed, or being computed in a planned step.
    end        length at which it really ends; the engine looks at it only when that length is reached.
    foreseen   length at which it ends at the latest because of max_tokens.
    slots      token slots of its table.
    published  blocks of its table that were made findable.
    publish_at length from which on the next block is full; NEVER without prefix caching.
    prefixes   what its full blocks hold, made when first needed.
    """

    __slots__ = (
        "done",
        "end",
        "finished",
        "foreseen",
        "id",
        "known",
        "prefixes",
        "promised",
        "prompt",
        "publish_at",
        "published",
        "request",
        "resumed",
        "running",
        "slots",
        "table",
    )

    def __init__(self, request: Request, max_model_len: int) -> None:
        self.request = request
        self.id = request.id
        self.prompt = self.known = request.prompt_tokens
        self.end = self.known + request.answers(max_model_len)
        self.foreseen = self.known + request.limit(max_model_len)
        self.prefixes: list[Prefix] = []
        self.promised = 0
        self.running = False
        self.resumed = False
        self.finished = False
        self.forget()

    def forget(self) -> None:
        """Start without memory, nothing computed; answers received are kept."""
        self.table = BlockTable()
        self.done = 0
        self.slots = 0
        self.published = 0
        self.publish_at = NEVER

    @property
    def answers(self) -> int:
        """Answer tokens received so far."""
        return self.known - self.prompt

    @property
    def urgency(self) -> tuple[int, float]:
        """(priority, arrival): the larger, the less urgent."""
        return self.request.priority, self.request.arrival

    def tokens(self, start: int, stop: int) -> tuple[int, ...]:
        """Token ids from position `start` up to `stop` (not included); both within the known tokens."""
        prompt = self.prompt
        if stop <= prompt:
            return tuple(self.request.prompt[start:stop])
        if start >= prompt:
            return self._answer(start - prompt, stop - prompt)
        return tuple(self.request.prompt[start:prompt]) + self._answer(0, stop - prompt)

    def _answer(self, start: int, stop: int) -> tuple[int, ...]:
        """Ids of its answer tokens number `start` up to `stop` (from 0)."""
        request = self.request
        told = tuple(range(request.answer_start + start, request.answer_start + stop))
        ending = request.stop_after
        return (*told[:-1], STOP_TOKEN) if ending == stop else told
