"""Prefixes: the identity of a full block's content, which is the whole text from the first token to its last.

A prefix hash stands for the block's tokens and everything before them. Unlike vLLM, whose hash
is cryptographic and taken at its word, ours is Python's own and small (32 bits in Pyodide), so equality is
always settled by comparing token ids: a collision costs a comparison and can do no harm.
"""

from __future__ import annotations

from collections.abc import Callable

HashFunction = Callable[[int, tuple[int, ...]], int]


def prefix_hash(parent: int, tokens: tuple[int, ...]) -> int:
    """Hash of a full block: of the hash of the block before (0 for the first) and its own token ids."""
    return hash((parent, tokens))


class Prefix:
    """The tokens of one full block behind the prefix `parent`. Immutable; shares its parents with others."""

    __slots__ = ("hash", "parent", "tokens")

    def __init__(
        self, parent: Prefix | None, tokens: tuple[int, ...], hasher: HashFunction = prefix_hash
    ) -> None:
        self.parent = parent
        self.tokens = tokens
        self.hash: int = hasher(0 if parent is None else parent.hash, tokens)

    def same_as(self, other: Prefix) -> bool:
        """True if every token from the first on is equal (a loop: chains are too long to recurse)."""
        mine: Prefix | None = self
        theirs: Prefix | None = other
        while mine is not theirs:
            if mine is None or theirs is None or mine.hash != theirs.hash or mine.tokens != theirs.tokens:
                return False
            mine, theirs = mine.parent, theirs.parent
        return True
