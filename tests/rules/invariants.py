"""What must hold of an engine between any two steps, whatever happened before."""

from __future__ import annotations

from collections import Counter

from sim.engine import Scheduler


def check(engine: Scheduler) -> None:
    """AssertionError if blocks, counts, hashes, queues or shares do not agree with each other."""
    check_blocks(engine)
    check_hashes(engine)
    check_requests(engine)
    shares = engine.shares()
    assert shares.capacity == engine.capacity
    assert (shares.reserved, shares.external) == (0, 0)
    assert shares.holding == sum(filled(engine).values())


def filled(engine: Scheduler) -> dict[int, int]:
    """Slots with a token in each block held, looked at block by block."""
    size = engine.config.block_size
    found: dict[int, int] = {}
    for request, table in engine.tables.items():
        computed = engine.progress(request)[1]
        for page, block in enumerate(table):
            found[block] = max(found.get(block, 0), min(size, computed - page * size), 0)
    return found


def check_blocks(engine: Scheduler) -> None:
    """Every block is either free or held by as many tables as it counts, never both, never lost."""
    pool = engine.memory.pool
    held = Counter(block for table in engine.tables.values() for block in table)
    free = pool.free_ids()
    assert len(free) == len(set(free)) == pool.free_count
    assert not set(free) & set(held)
    assert set(free) | set(held) == set(range(1, pool.num_blocks))
    assert pool.used_count == len(held)
    for block in range(1, pool.num_blocks):
        assert pool.reference_count(block) == held[block]


def check_hashes(engine: Scheduler) -> None:
    """What a block can be found by is the text of whoever holds it, up to the end of that page."""
    pool, size = engine.memory.pool, engine.config.block_size
    prefixes = {pool.prefix_of(block) for block in range(1, pool.num_blocks)} - {None}
    assert pool.cached_hashes == len({prefix.hash for prefix in prefixes})
    for prefix in prefixes:
        assert pool.find(prefix) is not None
    for live in engine._running:
        for page, block in enumerate(live.table):
            prefix = pool.prefix_of(block)
            if prefix is not None:
                assert whole_text(prefix) == live.tokens(0, (page + 1) * size)
                assert (page + 1) * size <= live.done


def whole_text(prefix) -> tuple[int, ...]:
    parts = []
    while prefix is not None:
        parts.append(prefix.tokens)
        prefix = prefix.parent
    return tuple(token for part in reversed(parts) for token in part)


def check_requests(engine: Scheduler) -> None:
    """Nobody runs and waits at once; everybody has slots for what is computed, and no block too many."""
    config = engine.config
    running, waiting = engine.running, engine.waiting
    assert len(set(running + waiting)) == len(running) + len(waiting) == engine.alive
    assert len(running) <= config.max_num_seqs
    for live in engine._running:
        assert live.done <= live.known + live.promised
        assert live.known < min(live.end, config.max_model_len)
        assert live.slots == len(live.table) * config.block_size
        assert live.done <= live.slots < live.done + config.block_size
    for live in engine._waiting:
        assert (live.done, len(live.table)) == (0, 0)
        assert live.promised == 0  # so the admission pass never meets an answer in flight
