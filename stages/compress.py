"""Stage 7: beside every text file, the same compressed, for hosts that can send it as it lies there."""

from __future__ import annotations

import gzip
from pathlib import Path

import brotli

from stages.cache import Cache, digest

TEXTS = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".xml", ".webmanifest"}
SMALLEST = 256
"""Files of fewer bytes are not worth a header."""


def compress(site: Path, cache: Cache) -> None:
    """Write ``.br`` and ``.gz`` beside every text file of the site."""
    for file in sorted(site.rglob("*")):
        if file.suffix in TEXTS and file.is_file() and file.stat().st_size >= SMALLEST:
            kept = _compressed(file, cache)
            for suffix in (".br", ".gz"):
                file.with_name(file.name + suffix).write_bytes((kept / f"it{suffix}").read_bytes())


def _compressed(file: Path, cache: Cache) -> Path:
    data = file.read_bytes()

    def make(folder: Path) -> None:
        (folder / "it.br").write_bytes(brotli.compress(data, quality=11))
        (folder / "it.gz").write_bytes(gzip.compress(data, 9, mtime=0))

    return cache.get("text", digest(data), make)
