"""The rungs of the ladder once more, as plainly as can be: memory is a list of cells, and each cell gets a
label.

Written from the papers' words and vLLM v0's loop, not from sim/ladder; the tests compare the two step by
step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from sim.ladder import LadderConfig
from sim.policy import Admitted, Request, Scheduled, Shares, Step


class Seen(NamedTuple):
    """One step from outside: what it did, and what was to be seen amid it and after it."""

    step: Step
    running: tuple[str, ...]
    waiting: tuple[str, ...]
    amid: Shares
    after: Shares


@dataclass(frozen=True)
class World:
    """A machine and what happens: (step, request) arrivals and (step, id) aborts before the step."""

    config: LadderConfig
    arrivals: tuple[tuple[int, Request], ...]
    aborts: tuple[tuple[int, str], ...]

    def before(self, step: int) -> Iterator[tuple[str, Any]]:
        """What comes before `step`: arrivals, then aborts."""
        yield from (("add", request) for due, request in self.arrivals if due == step)
        yield from (("abort", name) for due, name in self.aborts if due == step)

    @property
    def last(self) -> int:
        """The last step before which something comes."""
        return max([0, *(due for due, _ in self.arrivals), *(due for due, _ in self.aborts)])


def watch(policy: Any, world: World, most: int = 2000) -> list[Seen]:
    """Everything seen of `policy` in `world`, until nobody is left; refused requests are left out."""
    seen: list[Seen] = []
    for number in range(most):
        for what, value in world.before(number):
            try:
                getattr(policy, what)(value)
            except ValueError:
                assert what == "add"
        policy.schedule()
        running, waiting, amid = policy.running, policy.waiting, policy.shares()
        seen.append(Seen(policy.update(), running, waiting, amid, policy.shares()))
        if number >= world.last and not policy.busy:
            return seen
    return seen


def random_world(seed: int) -> World:
    """A small world out of `seed`."""
    random = Random(seed)
    block, longest = random.randint(1, 4), random.randint(4, 20)
    slots = longest + random.randint(4, 40)
    config = LadderConfig(
        slots=slots,
        block_size=block,
        max_model_len=longest,
        max_num_seqs=random.choice((2, 4, 16)),
        max_num_batched_tokens=max(16, longest) + random.randint(0, 8),
        watermark=random.choice((0, 0.01, 0.1, 0.4)),
        enable_prefix_caching=False,
    )
    arrivals, at = [], 0
    for number in range(random.randint(1, 12)):
        at += random.choice((0, 0, 1, 4))
        prompt = random.randint(1, longest)
        answers = random.choice((None, random.randint(1, 20)))
        stop = random.choice((None, random.randint(1, 20)))
        words = range(number * 100, number * 100 + prompt)
        arrivals.append((at, Request(f"r{number}", words, answers, at, stop_after=stop)))
    names = [request.id for _, request in arrivals]
    aborts = [(random.randint(0, at + 12), name) for name in names if random.random() < 0.1]
    return World(config, tuple(arrivals), tuple(aborts))


@dataclass
class Person:
    """One request: its cells, and how many of them it was promised, is filling, and will fill."""

    request: Request
    number: int
    known: int
    end: int
    done: int = 0
    promised: int = 0
    cells: list[int] = field(default_factory=list)
    again: bool = False

    @property
    def id(self) -> str:
        return self.request.id


class Naive(ABC):
    """What the rungs share: a list of cells, a queue, who runs."""

    def __init__(self, config: LadderConfig, capacity: int) -> None:
        self.config = config
        self.cells: list[Person | None] = [None] * capacity
        self.queue: list[Person] = []
        self.here: list[Person] = []
        self.number = 0
        self.arrived = 0
        self.steps: Step | None = None

    def add(self, request: Request) -> None:
        longest = self.config.max_model_len
        if any(one.id == request.id for one in self.queue + self.here) or len(request.prompt) >= longest:
            raise ValueError("refused")
        ends = [longest - len(request.prompt), request.max_tokens, request.stop_after]
        end = len(request.prompt) + min(one for one in ends if one is not None)
        person = Person(request, self.arrived, len(request.prompt), end)
        self.check(person)
        self.arrived += 1
        self.queue.append(person)

    @abstractmethod
    def check(self, person: Person) -> None:
        """ValueError if it can never be served."""

    def abort(self, name: str) -> None:
        self.queue = [one for one in self.queue if one.id != name]
        for one in [one for one in self.here if one.id == name]:
            self.go(one)

    def go(self, person: Person) -> None:
        self.here.remove(person)
        for cell in person.cells:
            self.cells[cell] = None
        person.cells = []

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.here)

    @property
    def waiting(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.queue)

    @property
    def busy(self) -> bool:
        return bool(self.queue or self.here)

    def schedule(self) -> None:
        self.computed: list[Person] = []
        self.told: list[Scheduled] = []
        self.new: list[Admitted] = []
        self.resumed: list[Admitted] = []
        self.out: list[str] = []
        self.planned = self.busy
        self.plan()

    @abstractmethod
    def plan(self) -> None:
        """Decide who computes in this step."""

    def compute(self, person: Person) -> None:
        self.told.append(Scheduled(person.id, person.known - person.done, person.done))
        self.computed.append(person)
        person.done = person.known

    def come_in(self, person: Person, cells: list[int], promised: int) -> None:
        self.queue.remove(person)
        self.here.append(person)
        (self.resumed if person.again else self.new).append(Admitted(person.id, 0))
        self.give(person, cells, promised)
        self.compute(person)

    def give(self, person: Person, cells: list[int], promised: int) -> None:
        for cell in cells:
            assert self.cells[cell] is None
            self.cells[cell] = person
        person.cells += cells
        person.promised += promised

    def leavers(self) -> list[Person]:
        return [one for one in self.here if one.known == one.end]

    def update(self) -> Step:
        for one in self.computed:
            one.known += 1
        leaving = self.leavers()
        for one in leaving:
            self.go(one)
        step = Step(
            self.number,
            tuple(self.told),
            sum(entry.tokens for entry in self.told),
            tuple(self.new),
            tuple(self.resumed),
            tuple(self.out),
            tuple(one.id for one in self.computed),
            tuple(one.id for one in leaving),
            self.planned,
        )
        self.number += 1
        return step

    def shares(self) -> Shares:
        """Every cell gets its label, and the labels are counted."""
        count = Counter(self.free_label(cell) for cell in self.free_cells())
        for person in self.here:
            assert all(self.cells[cell] is person for cell in person.cells)
            count.update(self.label(person, place) for place in range(len(person.cells)))
        return Shares(*(count[part] for part in ("holding", "reserved", "internal", "external", "free")))

    def label(self, person: Person, place: int) -> str:
        """What cell number `place` of a person is."""
        if place < person.done:
            return "holding"
        if place < person.end - 1:
            return "reserved"
        return "internal" if place < person.promised else "external"

    def free_cells(self) -> list[int]:
        return [cell for cell, person in enumerate(self.cells) if person is None]

    def free_label(self, cell: int) -> str:
        return "free"


class NaiveStatic(Naive):
    """Whole batches; rows of the longest length."""

    def check(self, person: Person) -> None:
        """Everybody can: a row is as long as the longest request."""

    def __init__(self, config: LadderConfig) -> None:
        super().__init__(config, config.slots)
        self.row = config.max_model_len

    def plan(self) -> None:
        if self.here:
            for one in self.here:
                if one.known < one.end:
                    self.compute(one)
            return
        while self.queue and len(self.here) < self.config.max_num_seqs:
            free = self.free_cells()
            if len(free) < self.row:
                return
            self.come_in(self.queue[0], free[: self.row], self.row)

    def leavers(self) -> list[Person]:
        done = all(one.known == one.end for one in self.here)
        return list(self.here) if done else []

    def label(self, person: Person, place: int) -> str:
        return "internal" if person.known == person.end else super().label(person, place)

    def free_label(self, cell: int) -> str:
        return "external" if cell >= len(self.cells) // self.row * self.row else "free"


class NaiveOrca(Naive):
    """A reservation in one aligned power of two, the first head that does not fit stops all."""

    def __init__(self, config: LadderConfig, kind: str) -> None:
        super().__init__(config, config.slots)
        self.kind = kind
        self.largest = 1
        while self.largest < config.max_model_len:
            self.largest *= 2

    def wants(self, person: Person) -> int:
        """Slots it reserves."""
        prompt, answers = len(person.request.prompt), person.end - len(person.request.prompt)
        if self.kind == "oracle":
            return prompt + answers - 1
        if self.kind == "max":
            return self.config.max_model_len
        power = 1
        while power < answers:
            power *= 2
        return min(prompt + power, self.config.max_model_len)

    def piece(self, wanted: int) -> int:
        size = 1
        while size < wanted:
            size *= 2
        return size

    def pieces(self) -> list[tuple[int, int]]:
        """Free (size, start) by looking at every cell."""
        found, start = [], 0
        while start < len(self.cells):
            size = self.largest
            while size and (
                start % size or start + size > len(self.cells) or any(self.cells[start : start + size])
            ):
                size //= 2
            if size:
                found.append((size, start))
            start += size or 1
        return found

    def check(self, person: Person) -> None:
        size = self.piece(self.wants(person))
        if size > len(self.cells):
            raise ValueError("refused")

    def plan(self) -> None:
        for one in self.here:
            self.compute(one)
        while self.queue and len(self.here) < self.config.max_num_seqs:
            wanted = self.wants(self.queue[0])
            size = self.piece(wanted)
            fitting = sorted(piece for piece in self.pieces() if piece[0] >= size)
            if not fitting:
                return
            start = fitting[0][1]
            self.come_in(self.queue[0], list(range(start, start + size)), wanted)

    def shares(self) -> Shares:
        if self.queue:
            size = self.piece(self.wants(self.queue[0]))
        else:
            size = {"max": self.piece(self.config.max_model_len), "pow2": 2, "oracle": 1}[self.kind]
        self.useful = {
            cell for large, start in self.pieces() if large >= size for cell in range(start, start + large)
        }
        return super().shares()

    def free_label(self, cell: int) -> str:
        return "free" if cell in self.useful else "external"


class NaiveV0(Naive):
    """vLLM v0: prefill if anybody can come in, else decode; blocks are runs of cells."""

    def __init__(self, config: LadderConfig, spare: bool = True) -> None:
        self.size = config.block_size
        self.blocks = config.slots // config.block_size
        super().__init__(config, self.blocks * self.size)
        self.spare = spare
        self.kept = int(self.blocks * config.watermark)

    def check(self, person: Person) -> None:
        most = self.config.max_model_len
        if person.request.max_tokens is not None:
            most = min(most, len(person.request.prompt) + person.request.max_tokens)
        needed = -(-(most - 1) // self.size)
        if needed + self.kept > self.blocks:
            raise ValueError("refused")

    def free_blocks(self) -> list[int]:
        return [block for block in range(self.blocks) if self.cells[block * self.size] is None]

    def take(self, person: Person, blocks: list[int]) -> list[int]:
        return [cell for block in blocks for cell in range(block * self.size, (block + 1) * self.size)]

    def plan(self) -> None:
        budget = self.config.max_num_batched_tokens
        came = False
        while self.queue:
            head = self.queue[0]
            needed = -(-head.known // self.size)
            free = self.free_blocks()
            if len(free) - needed < self.kept or head.known > budget:
                break
            if len(self.here) + 1 > self.config.max_num_seqs:
                break
            budget -= head.known
            self.come_in(head, self.take(head, free[:needed]), 0)
            came = True
        if not came:
            self.decode()

    def decode(self) -> None:
        left = sorted(self.here, key=lambda one: one.number)
        self.here = list(left)
        while left:
            one = left.pop(0)
            needed = 1 if one.known > len(one.cells) else 0
            while len(self.free_blocks()) < (1 if self.spare else needed):
                if left:
                    self.throw_out(left.pop())
                else:
                    self.throw_out(one)
                    break
            else:
                self.give(one, self.take(one, self.free_blocks()[:needed]), 0)
                self.compute(one)

    def throw_out(self, person: Person) -> None:
        self.go(person)
        person.done = 0
        person.again = True
        self.queue.insert(0, person)
        self.out.append(person.id)

    def label(self, person: Person, place: int) -> str:
        return "holding" if place < person.done else "internal"
