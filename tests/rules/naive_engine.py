"""A second engine, deliberately naive, to hold the real one against.

It keeps whole token lists, recomputes everything from them, finds a cached prefix by comparing whole texts,
and has no counters to get out of step. It is slow, and shares no code with sim/.
"""

from __future__ import annotations

import math
from types import SimpleNamespace


class NaiveEngine:
    def __init__(self, config):
        self.config = config
        self.free = list(range(1, config.num_blocks))
        self.holders = dict.fromkeys(self.free, 0)
        self.cached = []  # [text, block] in the order of publishing
        self.running, self.waiting = [], []
        self.flights = []
        self.asynchronous = config.async_scheduling

    # Requests

    def add(self, request):
        one = SimpleNamespace(
            id=request.id,
            prompt=list(request.prompt),
            text=list(request.prompt),
            request=request,
            done=0,
            promised=0,
            table=[],
            preempted=False,
            over=False,
        )
        self._enqueue(one)

    def _enqueue(self, one, front=False):
        self.waiting.insert(0 if front else len(self.waiting), one)
        if self.config.policy == "priority":
            self.waiting.sort(key=lambda other: (other.request.priority, other.request.arrival, other.id))

    def abort(self, name):
        for queue in (self.running, self.waiting):
            for one in [one for one in queue if one.id == name]:
                queue.remove(one)
                one.over = True
                self._release(one)

    # Blocks

    def _hashed(self, block):
        return any(held == block for _, held in self.cached)

    def _take(self, count):
        taken, self.free = self.free[:count], self.free[count:]
        self.cached = [entry for entry in self.cached if entry[1] not in taken]
        for block in taken:
            self.holders[block] = 1
        return taken

    def _release(self, one):
        front = []
        for block in one.table[::-1]:
            self.holders[block] -= 1
            if self.holders[block] == 0:
                to_end = self._hashed(block) or not self.config.unhashed_to_front
                (self.free if to_end else front).append(block)
        self.free = front + self.free
        one.table = []
        one.done = 0

    def _publish(self, one, upto):
        size = self.config.block_size
        for page in range(min(upto, len(one.text)) // size):
            if self.config.enable_prefix_caching and not self._hashed(one.table[page]):
                self.cached.append((one.text[: (page + 1) * size], one.table[page]))

    def _hits(self, one):
        size, hits = self.config.block_size, []
        while self.config.enable_prefix_caching and (len(hits) + 1) * size < len(one.text):
            wanted = one.text[: (len(hits) + 1) * size]
            found = [block for text, block in self.cached if text == wanted]
            if not found:
                break
            hits.append(found[0])
        return hits

    # One step

    def step(self):
        config = self.config
        record = SimpleNamespace(scheduled=[], admitted=[], resumed=[], preempted=[], sampled=[], finished=[])
        planned = bool(self.running or self.waiting)
        flight = []
        if planned or not self.asynchronous:
            self.left = config.max_num_batched_tokens
            alone = len(self.running) + len(self.waiting) <= 1
            threshold = config.long_prefill_token_threshold
            self.cap = math.inf if alone or threshold == 0 else threshold
            self._run(record)
            if not record.preempted:
                self._let_in(record)
            flight = [
                one
                for one, _, _ in record.scheduled
                if one.done == len(one.text) + one.promised and one in self.running
            ]
            if self.asynchronous:
                for one in flight:
                    one.promised += 1
            self.flights.append(flight)
        if self.flights and (not self.asynchronous or not planned or len(self.flights) == 2):
            self._answer(self.flights.pop(0), record)
        record.scheduled = [(one.id, n, before) for one, n, before in record.scheduled]
        return record

    def _run(self, record):
        config = self.config
        at = 0
        while at < len(self.running) and self.left > 0:
            one = self.running[at]
            last = len(one.prompt) + one.request.limit(config.max_model_len)
            if one.promised and one.done + 2 - one.promised >= last:
                at += 1
                continue
            n = min(
                len(one.text) + one.promised - one.done,
                self.cap,
                self.left,
                config.max_model_len - one.done - 1,
            )
            if n <= 0:
                at += 1
                continue
            outcome = None
            while outcome is None:
                blocks = math.ceil((one.done + n) / config.block_size) - len(one.table)
                if blocks <= len(self.free):
                    outcome = "fits"
                else:
                    victim = self._victim()
                    where = self.running.index(victim)
                    for entry in [entry for entry in record.scheduled if entry[0] is victim]:
                        record.scheduled.remove(entry)
                        self.left += entry[1] if config.refund_priority_victims else 0
                    if where < at and config.shift_for_priority_victims:
                        at -= 1
                    self.running.remove(victim)
                    self._release(victim)
                    victim.preempted = True
                    self._enqueue(victim, front=True)
                    record.preempted.append(victim.id)
                    outcome = "out" if victim is one else None
            if outcome == "out":
                if config.policy == "fcfs" or config.self_preemption_ends_pass:
                    return
                continue
            one.table += self._take(blocks) if blocks > 0 else []
            record.scheduled.append((one, n, one.done))
            one.done += n
            self._publish(one, one.done)
            self.left -= n
            at += 1

    def _victim(self):
        if self.config.policy == "fcfs":
            return self.running[-1]
        worst = max((one.request.priority, one.request.arrival) for one in self.running)
        return next(one for one in self.running if (one.request.priority, one.request.arrival) == worst)

    def _let_in(self, record):
        config, skipped = self.config, []
        while self.left > 0 and self.waiting and len(self.running) < config.max_num_seqs:
            one = self.waiting[0]
            hits = self._hits(one)
            start = len(hits) * config.block_size
            n = min(len(one.text) - start, self.cap)
            if n > self.left and not config.enable_chunked_prefill:
                if not config.skip_too_long_without_chunking:
                    break
                skipped.append(self.waiting.pop(0))
                continue
            n = min(n, self.left)
            blocks = math.ceil((start + n) / config.block_size) - len(hits)
            wanted = blocks
            if config.reserve_full_isl:
                wanted = max(wanted, math.ceil(len(one.text) / config.block_size) - len(hits))
            wanted += len([block for block in hits if block in self.free])
            if self.running:
                wanted += int(config.watermark * config.num_blocks)
            if wanted > len(self.free):
                break
            self.waiting.pop(0)
            self.running.append(one)
            for block in hits:
                self.holders[block] += 1
                if block in self.free:
                    self.free.remove(block)
            one.table = hits + self._take(blocks)
            one.done = start + n
            self._publish(one, one.done)
            record.scheduled.append((one, n, start))
            (record.resumed if one.preempted else record.admitted).append((one.id, start))
            self.left -= n
        for one in skipped[::-1]:
            self._enqueue(one, front=True)

    def _answer(self, flight, record):
        record.sampled = [one.id for one in flight]
        for one in flight:
            if one.over:
                continue
            number = len(one.text) - len(one.prompt)
            one.text.append(one.request.answer_start + number)
            if self.asynchronous:
                one.promised -= 1
                if one in self.running:
                    self._publish(one, one.done - one.promised)
            number += 1
            limit = one.request.limit(self.config.max_model_len)
            stopped = one.request.stop_after == number
            if stopped or number >= limit or len(one.text) >= self.config.max_model_len:
                one.over = True
                record.finished.append(one.id)
                (self.running if one in self.running else self.waiting).remove(one)
                self._release(one)
