"""The buddy allocator against a picture of its memory, cell by cell."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sim.buddy import BuddyAllocator, NoPieceError, Piece, power_of_two


def free_pieces_of(cells: list[bool], largest: int) -> list[Piece]:
    """The largest aligned powers of two of free cells, found by looking at every cell."""
    found, start = [], 0
    while start < len(cells):
        size = largest
        while size and (start % size or start + size > len(cells) or any(cells[start : start + size])):
            size //= 2
        if size:
            found.append(Piece(start, size))
        start += size or 1
    return found


class Buddies(RuleBasedStateMachine):
    """Any sequence of takes and releases leaves exactly what a cell-by-cell allocator leaves."""

    @initialize(slots=st.integers(1, 70), power=st.none() | st.integers(0, 7))
    def begin(self, slots: int, power: int | None) -> None:
        self.buddies = BuddyAllocator(slots, None if power is None else 1 << power)
        self.largest = 128 if power is None else 1 << power
        self.cells = [False] * slots
        self.start = self.buddies.free_pieces()
        self.held: list[Piece] = []

    @rule(wanted=st.integers(1, 80))
    def take(self, wanted: int) -> None:
        size = power_of_two(wanted)
        fitting = [piece for piece in free_pieces_of(self.cells, self.largest) if piece.size >= size]
        assert self.buddies.can_take(wanted) == bool(fitting)
        if not fitting:
            before = self.buddies.free_pieces()
            with pytest.raises(NoPieceError, match=f"{size} slots is wanted"):
                self.buddies.take(wanted)
            assert self.buddies.free_pieces() == before
            return
        expected = Piece(min(fitting, key=lambda piece: (piece.size, piece.start)).start, size)
        assert self.buddies.take(wanted) == expected
        self.cells[expected.start : expected.start + size] = [True] * size
        self.held.append(expected)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        piece = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        joined = self.buddies.release(piece.start)
        self.cells[piece.start : piece.start + piece.size] = [False] * piece.size
        assert joined in free_pieces_of(self.cells, self.largest)
        assert joined.start <= piece.start < piece.start + piece.size <= joined.start + joined.size

    @rule()
    def release_all(self) -> None:
        while self.held:
            self.buddies.release(self.held.pop().start)
        self.cells = [False] * len(self.cells)
        assert self.buddies.free_pieces() == self.start

    @invariant()
    def is_the_picture(self) -> None:
        assert list(self.buddies.free_pieces()) == free_pieces_of(self.cells, self.largest)
        assert list(self.buddies.taken_pieces()) == sorted(self.held)
        assert self.buddies.free_slots == self.cells.count(False)
        assert self.buddies.largest_free == max((p.size for p in self.buddies.free_pieces()), default=0)

    @invariant()
    def covers_every_slot_once(self) -> None:
        pieces = sorted(self.buddies.free_pieces() + self.buddies.taken_pieces())
        covered = [slot for start, size in pieces for slot in range(start, start + size)]
        assert covered == list(range(len(self.cells)))
        assert all(piece.start % piece.size == 0 for piece in pieces)


TestBuddies = Buddies.TestCase
TestBuddies.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)


@given(st.integers(1, 1 << 40))
def test_power_of_two_is_the_smallest_not_below(number: int) -> None:
    power = power_of_two(number)
    assert power & (power - 1) == 0
    assert power // 2 < number <= power


def test_the_papers_arena() -> None:
    """15,728 slots: seven pieces of 2,048 and a rest of 1,392 that serves no such request (8.85 %)."""
    buddies = BuddyAllocator(15_728, 2_048)
    sizes = [piece.size for piece in buddies.free_pieces()]
    assert sizes == [2048] * 7 + [1024, 256, 64, 32, 16]
    assert buddies.free_below(2048) == 1_392
    assert [buddies.take(2048).start for _ in range(7)] == [2048 * k for k in range(7)]
    assert not buddies.can_take(2048)
    assert buddies.free_slots == 1_392


def test_room_enough_and_yet_none_in_one_piece() -> None:
    buddies = BuddyAllocator(16)
    starts = [buddies.take(4).start for _ in range(4)]
    buddies.release(starts[0])
    buddies.release(starts[2])
    assert buddies.free_slots == 8
    assert not buddies.can_take(5)
    assert buddies.release(starts[1]) == Piece(0, 8)
    assert buddies.can_take(5)


@pytest.mark.parametrize("bad", [0, -1, True, 1.5, "4", None])
def test_bad_sizes_are_refused_by_name(bad: object) -> None:
    with pytest.raises(ValueError, match="slots must be"):
        BuddyAllocator(bad)  # type: ignore[arg-type]
    buddies = BuddyAllocator(8)
    with pytest.raises(ValueError, match="number must be"):
        buddies.take(bad)  # type: ignore[arg-type]
    assert buddies.free_slots == 8


@pytest.mark.parametrize("bad", [0, 3, 12, -4])
def test_the_largest_piece_is_a_power_of_two(bad: int) -> None:
    with pytest.raises(ValueError, match="largest must be"):
        BuddyAllocator(8, bad)


@pytest.mark.parametrize("bad", [1, 8, -1, "0"])
def test_only_what_was_handed_out_comes_back(bad: object) -> None:
    buddies = BuddyAllocator(8)
    buddies.take(4)
    with pytest.raises(ValueError, match="start"):
        buddies.release(bad)  # type: ignore[arg-type]
    assert buddies.taken_pieces() == (Piece(0, 4),)
