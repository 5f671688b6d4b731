"""IterationLevel: the batch is re-formed every step, memory is reserved in one piece per request (models
Orca).

Sources: Orca (OSDI '22), iteration-level scheduling and selective batching; PagedAttention paper section 6.1
(baseline 2), whose authors built three kinds and gave each a buddy allocator:

    max     reserves max_model_len, as if the answer could always be as long as that
    pow2    reserves the prompt and the answer over-provisioned by at most 2 x: 25 -> 32 (it knows the power
            of two)
    oracle  reserves exactly what will be filled; the paper calls it infeasible in practice

First come, first served: when the head of the queue gets no piece, nobody behind it is tried.

Deliberate differences from Orca as the paper ran it
* The last answer token is never computed and needs no slot, so the oracle reserves prompt + answers - 1.
* pow2 never reserves more than max_model_len.
* No pipeline of several batches in flight, and no token budget: a whole prompt is computed in the step that
  admits it.
* What the buddy allocator rounds up to is `external` (the allocator's doing), not `internal`; the paper's
  oracle has no internal fragmentation either. A free piece is `external` while it is too small for the head
  of the queue or, if nobody waits, for the smallest reservation this kind makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sim.buddy import BuddyAllocator, Piece, power_of_two
from sim.checks import one_of
from sim.ladder.config import LadderConfig
from sim.ladder.rung import Live, Plan, Rung
from sim.policy import Request, Shares

Reservation = Callable[[Request, int], int]


def reserve_max(request: Request, max_model_len: int) -> int:
    """Slots Orca (Max) reserves: as many as the model can ever fill."""
    return max_model_len


def reserve_pow2(request: Request, max_model_len: int) -> int:
    """Slots Orca (Pow2) reserves: the prompt and the next power of two of the true answer length."""
    return min(request.prompt_tokens + power_of_two(request.answers(max_model_len)), max_model_len)


def reserve_oracle(request: Request, max_model_len: int) -> int:
    """Slots Orca (Oracle) reserves: those that will be filled."""
    return request.prompt_tokens + request.answers(max_model_len) - 1


RESERVATIONS: Mapping[str, Reservation] = MappingProxyType(
    {"max": reserve_max, "pow2": reserve_pow2, "oracle": reserve_oracle}
)


class Holder(Live):
    """A request with its reservation: `reserves` slots, in `piece` while it runs."""

    __slots__ = ("piece", "reserves")

    def __init__(self, request: Request, max_model_len: int, reserves: int) -> None:
        super().__init__(request, max_model_len)
        self.reserves = reserves
        self.piece = Piece(0, 0)


class IterationLevel(Rung[Holder]):
    """Continuous batching over a buddy allocator; `kind` is max, pow2 or oracle. ValueError for another."""

    def __init__(self, config: LadderConfig, kind: str = "max") -> None:
        super().__init__(config)
        self.kind = one_of("kind", kind, tuple(RESERVATIONS))
        self._reserve = RESERVATIONS[kind]
        largest = power_of_two(config.max_model_len)
        self.allocator = BuddyAllocator(config.slots, largest)
        # Nobody asks for less than a prompt of one token with one answer token.
        self._smallest = power_of_two(self._reserve(Request("smallest", (0,), 1), config.max_model_len))

    @property
    def capacity(self) -> int:
        """Token slots of the memory."""
        return self.config.slots

    def shares(self) -> Shares:
        """Reservations by what becomes of them; the allocator's rounding and useless pieces are external."""
        holding = reserved = given = pieces = 0
        for live in self._running:
            holding += live.done
            reserved += live.filled_at_last - live.done
            given += live.reserves
            pieces += live.piece.size
        head = self._head()
        useless = self.allocator.free_below(power_of_two(head.reserves) if head else self._smallest)
        external = pieces - given + useless
        free = self.allocator.free_slots - useless
        return Shares(holding, reserved, given - holding - reserved, external, free)

    def _new_live(self, request: Request) -> Holder:
        reserves = self._reserve(request, self.config.max_model_len)
        if power_of_two(reserves) > self.allocator.largest_piece:
            raise ValueError(
                f"{request.id!r} can never be served: it wants a piece of {power_of_two(reserves)} slots, "
                f"the largest there can be has {self.allocator.largest_piece}"
            )
        return Holder(request, self.config.max_model_len, reserves)

    def _fill(self, plan: Plan) -> None:
        for live in self._running:
            plan.schedule(live)
        while (head := self._head()) and self._may_come_in(head):
            head.piece = self.allocator.take(head.reserves)
            self._start(plan, head)

    def _may_come_in(self, head: Holder) -> bool:
        return len(self._running) < self.config.max_num_seqs and self.allocator.can_take(head.reserves)

    def _release(self, live: Holder) -> None:
        self.allocator.release(live.piece.start)
