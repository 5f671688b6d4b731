"""Results of slow stages, kept by the content that they were made from.

A result is a folder named by a hash of everything that went in. It is filled beside its place and moved
in one step, so that two builds at once, or one that is stopped, never leave half a result behind.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


def digest(*parts: bytes | str | Path) -> str:
    """Hash texts, bytes, files, and folders with all their files, each with its length."""
    sha = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            sha.update(len(piece).to_bytes(8, "little"))
            sha.update(piece)
    return sha.hexdigest()


def _pieces(part: bytes | str | Path) -> Iterable[bytes]:
    if isinstance(part, bytes):
        yield part
    elif isinstance(part, str):
        yield part.encode()
    elif part.is_dir():
        for file in sorted(part.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(part).as_posix().encode()
                yield file.read_bytes()
    else:
        yield part.read_bytes()


@dataclass(frozen=True)
class Cache:
    """A folder of results; with ``reuse`` false every result is made again."""

    folder: Path
    reuse: bool = True

    def get(self, name: str, key: str, make: Callable[[Path], None]) -> Path:
        """Return the folder of results for ``key``; where it is not kept, ``make(folder)`` fills it."""
        place = self.folder / f"{name}-{key[:24]}"
        if place.is_dir() and self.reuse:
            return place
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=self.folder))
        try:
            make(beside)
            _replace(beside, place)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return place


def _replace(beside: Path, place: Path) -> None:
    """Move a finished result to its place; one that another build has just put there is as good."""
    old = Path(f"{beside}.old")
    if place.is_dir():
        os.rename(place, old)
    try:
        os.rename(beside, place)
    except OSError:
        if not place.is_dir():
            raise
    shutil.rmtree(old, ignore_errors=True)
