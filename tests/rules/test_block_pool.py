"""BlockPool, BlockTable and Prefix: examples, refusals, and a state machine against a naive pool."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sim.block_pool import BlockPool, PoolExhausted
from sim.block_table import BlockTable
from sim.prefix import Prefix


def text(*tokens: int, parent: Prefix | None = None, hasher=None) -> Prefix:
    return Prefix(parent, tokens) if hasher is None else Prefix(parent, tokens, hasher)


# The free queue


def test_the_null_block_is_never_handed_out():
    pool = BlockPool(5)
    assert (pool.usable, pool.free_count, pool.used_count) == (4, 4, 0)
    assert pool.take(4) == [1, 2, 3, 4]
    assert (pool.free_count, pool.used_count, pool.free_ids()) == (0, 4, ())


def test_a_scattered_first_order_is_handed_out_as_given():
    pool = BlockPool(6, free_order=[3, 5, 1, 4, 2])
    assert pool.free_ids() == (3, 5, 1, 4, 2)
    assert pool.take(3) == [3, 5, 1]
    pool.release([3, 5, 1])
    assert pool.free_ids() == (1, 5, 3, 4, 2)


def test_a_freed_block_that_nobody_can_find_goes_to_the_very_front():
    pool = BlockPool(8)
    table = pool.take(3)
    assert pool.release(table) == [3, 2, 1]
    assert pool.free_ids() == (3, 2, 1, 4, 5, 6, 7)


def test_blocks_with_a_prefix_go_to_the_end_and_the_tail_without_one_to_the_front():
    pool = BlockPool(10)
    table = [*pool.take(3), pool.take(2)[1], pool.take(4)[3]]
    assert table == [1, 2, 3, 5, 9]
    for place, block in enumerate(table[:-1]):
        pool.publish(block, text(place))
    pool.release(table)
    pool.release([4, 6, 7, 8])
    assert pool.free_ids() == (8, 7, 6, 4, 9, 5, 3, 2, 1)


def test_in_0_11_all_freed_blocks_go_to_the_end():
    pool = BlockPool(6, unhashed_to_front=False)
    pool.release(pool.take(2))
    assert pool.free_ids() == (3, 4, 5, 2, 1)


def test_a_shared_block_is_free_when_the_last_table_lets_go():
    pool = BlockPool(4)
    [block] = pool.take(1)
    pool.share(block)
    assert pool.reference_count(block) == 2
    assert pool.release([block]) == []
    assert pool.free_count == 2
    assert pool.release([block]) == [block]
    assert pool.free_count == 3


# The prefix cache


def test_a_free_block_is_still_found_and_leaves_the_middle_of_the_queue():
    pool = BlockPool(5)
    table = pool.take(3)
    prefixes = [text(7, 8), text(9, 9), text(1, 2)]
    for block, prefix in zip(table, prefixes, strict=True):
        pool.publish(block, prefix)
    pool.release(table)
    assert pool.free_ids() == (4, 3, 2, 1)
    assert pool.find(text(9, 9)) == 2
    pool.share(2)
    assert pool.free_ids() == (4, 3, 1)
    assert pool.reference_count(2) == 1


def test_handing_a_block_out_makes_it_forget_and_tells():
    evicted = []
    pool = BlockPool(3, on_evict=evicted.append)
    table = pool.take(2)
    pool.publish(1, text(5))
    pool.release(table)
    assert pool.cached_hashes == 1
    assert pool.take(2) == [2, 1]
    assert (evicted, pool.find(text(5)), pool.cached_hashes, pool.prefix_of(1)) == ([1], None, 0, None)


def test_of_twins_the_oldest_published_is_found_and_then_the_next():
    pool = BlockPool(5)
    first, second, third = pool.take(3)
    for block in (second, first, third):
        pool.publish(block, text(4, 4))
    assert pool.cached_hashes == 1
    assert pool.find(text(4, 4)) == second
    pool.release([second])
    assert pool.take(2) == [4, second]
    assert pool.find(text(4, 4)) == first


@pytest.mark.parametrize("hasher", [lambda parent, tokens: 0, lambda parent, tokens: tokens[-1]])
def test_a_hash_collision_does_no_harm(hasher):
    pool = BlockPool(6)
    blocks = pool.take(4)
    one, other = text(1, 9, hasher=hasher), text(2, 9, hasher=hasher)
    held = [one, text(5, 9, parent=one, hasher=hasher), other, text(5, 9, parent=other, hasher=hasher)]
    for block, prefix in zip(blocks, held, strict=True):
        pool.publish(block, prefix)
    assert [pool.find(prefix) for prefix in held] == blocks
    assert pool.find(text(3, 9, hasher=hasher)) is None
    twin = text(2, 9, hasher=hasher)
    assert pool.find(text(5, 9, parent=twin, hasher=hasher)) == blocks[3]
    assert pool.find(text(5, 9, hasher=hasher)) is None


def test_thousands_of_blocks_in_one_chain_are_compared_without_recursion():
    chains = []
    for _ in range(2):
        prefix = None
        for token in range(20_000):
            prefix = Prefix(prefix, (token,))
        chains.append(prefix)
    assert chains[0].same_as(chains[1])


# Refusals change nothing

REFUSED = {
    "too many": (lambda pool: pool.take(9), "9 blocks wanted, only 2 free"),
    "negative": (lambda pool: pool.take(-1), "count must be at least 0, got -1"),
    "a bool": (lambda pool: pool.can_take(True), "count must be a whole number, got True"),
    "free": (lambda pool: pool.release([1, 4]), "block 4 is released but nobody holds it"),
    "twice": (lambda pool: pool.release([1, 1]), "block 1 is released more often than it is held"),
    "null": (lambda pool: pool.release([0]), "block must be from 1 to 4, got 0"),
    "unknown": (lambda pool: pool.share(5), "block must be from 1 to 4, got 5"),
    "nothing inside": (lambda pool: pool.share(3), "block 3 is free and holds nothing to share"),
    "publish free": (
        lambda pool: pool.publish(3, text(1)),
        "block 3 is free, only a block in use can be published",
    ),
    "publish twice": (lambda pool: pool.publish(2, text(1)), "block 2 is published already"),
    "count of null": (lambda pool: pool.reference_count(0), "block must be from 1 to 4, got 0"),
    "prefix of 1.0": (lambda pool: pool.prefix_of(1.0), "block must be a whole number, got 1.0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_value_and_changes_nothing(case):
    pool = BlockPool(5)
    pool.take(2)
    pool.publish(2, text(8))
    before = state(pool)
    act, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        act(pool)
    assert state(pool) == before


def test_an_empty_pool_says_how_much_was_wanted():
    with pytest.raises(PoolExhausted) as caught:
        BlockPool(3).take(3)
    assert (caught.value.wanted, caught.value.free) == (3, 2)


@pytest.mark.parametrize("order", [[1, 2], [1, 2, 2], [0, 1, 2], [1, 2, 4], [1, 2, 3, 3], []])
def test_a_first_order_must_be_a_permutation(order):
    with pytest.raises(ValueError, match="free_order must hold each block from 1 to 3 once"):
        BlockPool(4, free_order=order)


@pytest.mark.parametrize("number", [1, 0, -3, 2.0, True, "9"])
def test_a_pool_has_at_least_two_blocks(number):
    with pytest.raises(ValueError, match="num_blocks must be"):
        BlockPool(number)


def state(pool: BlockPool) -> tuple:
    counts = tuple(pool.reference_count(block) for block in range(1, pool.num_blocks))
    held = tuple(pool.prefix_of(block) for block in range(1, pool.num_blocks))
    return pool.free_ids(), pool.free_count, counts, held, pool.cached_hashes


# The table


def test_a_table_maps_pages_from_1_and_grows_at_its_end():
    table = BlockTable([7, 2])
    table.append(9)
    table.extend([4])
    assert (table.blocks, len(table), list(table)) == ((7, 2, 9, 4), 4, [7, 2, 9, 4])
    assert [table.row(page) for page in (1, 2, 3, 4)] == [7, 2, 9, 4]
    assert table.locate(0, 3) == (7, 0)
    assert table.locate(8, 3) == (9, 2)


@pytest.mark.parametrize("page", [0, 3, -1, 1.0, True, "1"])
def test_a_page_that_is_not_there_is_refused(page):
    with pytest.raises(ValueError, match="page must be"):
        BlockTable([5, 6]).row(page)


def test_an_empty_table_and_a_position_without_a_slot_are_refused():
    with pytest.raises(ValueError, match="no pages"):
        BlockTable().row(1)
    with pytest.raises(ValueError, match="page must be from 1 to 2, got 3"):
        BlockTable([5, 6]).locate(8, 4)


# Against a naive pool


class PoolMachine(RuleBasedStateMachine):
    """A pool, and next to it plain lists that say what it should be."""

    def __init__(self):
        super().__init__()
        self.pool = BlockPool(9)
        self.queue = list(range(1, 9))
        self.tables: list[list[int]] = []
        self.texts: dict[int, tuple[int, ...]] = {}  # block -> its whole text, in the order of publishing

    @rule(count=st.integers(0, 5))
    def take(self, count):
        if count > len(self.queue):
            with pytest.raises(PoolExhausted):
                self.pool.take(count)
            return
        taken, self.queue = self.queue[:count], self.queue[count:]
        assert self.pool.take(count) == taken
        for block in taken:
            self.texts.pop(block, None)
        self.tables.append(taken)

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def share_a_table(self, data):
        table = data.draw(st.sampled_from(self.tables))
        for block in table:
            self.pool.share(block)
        self.tables.append(list(table))

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def release_a_table(self, data):
        table = self.tables.pop(data.draw(st.integers(0, len(self.tables) - 1)))
        self.pool.release(table)
        freed = [block for block in reversed(table) if not any(block in other for other in self.tables)]
        front = [block for block in freed if block not in self.texts]
        self.queue = front + self.queue + [block for block in freed if block in self.texts]

    @rule(data=st.data(), tokens=st.lists(st.integers(0, 1), min_size=1, max_size=3))
    def publish_a_block(self, data, tokens):
        blocks = sorted({block for table in self.tables for block in table} - set(self.texts))
        if blocks:
            block = data.draw(st.sampled_from(blocks))
            self.pool.publish(block, chain(tokens))
            self.texts[block] = tuple(tokens)

    @rule(tokens=st.lists(st.integers(0, 1), min_size=1, max_size=3))
    def take_a_hit(self, tokens):
        twins = [block for block, told in self.texts.items() if told == tuple(tokens)]
        found = self.pool.find(chain(tokens))
        assert found == (twins[0] if twins else None)
        if found is not None:
            self.pool.share(found)
            if found in self.queue:
                self.queue.remove(found)
            self.tables.append([found])

    @invariant()
    def everything_agrees(self):
        pool = self.pool
        assert pool.free_ids() == tuple(self.queue)
        assert (pool.free_count, pool.used_count) == (len(self.queue), 8 - len(self.queue))
        for block in range(1, 9):
            references = sum(table.count(block) for table in self.tables)
            assert pool.reference_count(block) == references
            assert (block in self.queue) == (references == 0)
            assert (pool.prefix_of(block) is not None) == (block in self.texts)
        assert pool.cached_hashes == len(set(self.texts.values()))


def chain(tokens):
    prefix = None
    for token in tokens:
        prefix = Prefix(prefix, (token,))
    return prefix


TestPoolMachine = PoolMachine.TestCase
TestPoolMachine.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
