"""The BlockTable: which physical block holds each logical page of one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sim.checks import in_range


class BlockTable:
    """Logical page k (1-based) -> physical block. It only grows at its end; an entry never changes.

    A request that gives its memory back drops its table and starts a new one.
    """

    __slots__ = ("_blocks",)

    def __init__(self, blocks: Iterable[int] = ()) -> None:
        self._blocks = list(blocks)

    def append(self, block: int) -> None:
        """Add the block of the next page."""
        self._blocks.append(block)

    def extend(self, blocks: Iterable[int]) -> None:
        """Add the blocks of the next pages, in order."""
        self._blocks.extend(blocks)

    @property
    def blocks(self) -> tuple[int, ...]:
        """The physical blocks, page 1 first."""
        return tuple(self._blocks)

    def row(self, page: int) -> int:
        """Physical block of logical page `page`, 1..len(table); ValueError naming the range otherwise."""
        pages = len(self._blocks)
        if not pages:
            raise ValueError(f"page {page!r} asked of a block table with no pages")
        if type(page) is not int or not 0 < page <= pages:
            in_range("page", page, 1, pages)  # says what is wrong
        return self._blocks[page - 1]

    def locate(self, position: int, block_size: int) -> tuple[int, int]:
        """(physical block, slot in it) of the token at `position` (both from 0); ValueError if none."""
        in_range("block_size", block_size, 1)
        in_range("position", position, 0)
        page, slot = divmod(position, block_size)
        return self.row(page + 1), slot

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[int]:
        return iter(self._blocks)

    def __repr__(self) -> str:
        return f"BlockTable({self._blocks})"
