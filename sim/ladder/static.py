"""StaticBatching: request-level batches with the longest answer reserved for everybody (models
FasterTransformer).

Sources: PagedAttention paper section 6.1 (baseline 1): "we set a maximum batch size B as large as possible
... according to the GPU memory capacity. The scheduler takes up to B number of earliest arrived requests and
sends the batch to FasterTransformer"; section 2.3 on request-level batching.

A batch is made when the one before is over. Each request has a row of `max_model_len` slots in a row. One
whose answer is complete keeps its row, and its reader gets nothing, until the longest answer of the batch is
complete.

Deliberate differences from FasterTransformer
* Prompts are not padded to the longest of the batch, and a complete row computes nothing more: neither is in
  `Step.tokens`. (Real padding makes static batching slower still.)
* The scheduler does not wait for a fuller batch, as Triton's dynamic batching may.
* A row that is not given out is `free`; slots that make no whole row are `external`. The tokens of a
  complete row are `internal`: nobody will read them again.
"""

from __future__ import annotations

from sim.ladder.config import LadderConfig
from sim.ladder.rung import Live, Plan, Rung
from sim.policy import Request, Shares


class StaticBatching(Rung[Live]):
    """Batches of at most `rows` requests, one after another."""

    streams = False

    def __init__(self, config: LadderConfig) -> None:
        super().__init__(config)
        self.rows = min(config.slots // config.max_model_len, config.max_num_seqs)

    @property
    def capacity(self) -> int:
        """Token slots of the memory."""
        return self.config.slots

    def shares(self) -> Shares:
        """Rows of the batch, rows not given out, and what makes no row."""
        row = self.config.max_model_len
        holding = reserved = 0
        for live in self._running:
            if not live.ended:
                holding += live.done
                reserved += live.filled_at_last - live.done
        given = len(self._running) * row
        external = self.capacity % row
        free = self.capacity - external - given
        return Shares(holding, reserved, given - holding - reserved, external, free)

    def _new_live(self, request: Request) -> Live:
        return Live(request, self.config.max_model_len)

    def _fill(self, plan: Plan) -> None:
        if self._running:
            for live in self._running:
                if not live.ended:
                    plan.schedule(live)
            return
        for live in list(self._waiting.values())[: self.rows]:
            self._start(plan, live)

    def _leaving(self) -> list[Live]:
        """The whole batch, or nobody."""
        return list(self._running) if all(live.ended for live in self._running) else []

    def _release(self, live: Live) -> None:
        """A row is free when its request is no longer in the batch."""
