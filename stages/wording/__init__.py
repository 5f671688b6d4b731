"""The wording check: every text that reaches the reader is written as in Taiwan, and typeset so.

    mainland     a word of the mainland that has no use in this lesson (memory is 記憶體, not 內存)
    review       a word that is right in another sense; a use that was looked at stands in exceptions.toml
    simplified   a Simplified character, or one that Taiwan does not write
    variant      the other of two forms (占, not 佔)
    voice        an adjective where the lesson lets a figure speak
    spacing      one ASCII space between Han and Latin letters or digits, none elsewhere
    punctuation  full-width beside Han characters
    italics      Han characters are never slanted

`check_html` and `check_text` judge one page or string, `check_style` one style sheet,
`check_site` a built site. The words are data: words.toml and exceptions.toml.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from stages.wording.rules import Finding, judge, judge_slant, judge_style
from stages.wording.texts import Passage, passages, passages_of_data, plain

__all__ = ["Finding", "check_data", "check_html", "check_site", "check_style", "check_text"]


def check_text(text: str, where: str) -> list[Finding]:
    """The faults of one string without markup. where: what to call the place in findings."""
    return judge(plain(text, where))


def check_html(html: str, where: str) -> list[Finding]:
    """The faults of a page or a fragment: its texts, its attributes, and data in its scripts."""
    return _judge(passages(html, where))


def check_data(value: object, where: str) -> list[Finding]:
    """The faults of all strings in JSON data; a string with tags is taken as a fragment of a page."""
    return _judge(passages_of_data(value, where))


def check_style(css: str, where: str) -> list[Finding]:
    """Italics that a style sheet asks for."""
    return judge_style(css, where)


def check_site(dist: Path) -> list[Finding]:
    """The faults of all pages, data and styles in a folder. where is the path in it, with the line."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(dist.rglob("*.html"))}
    sheets = {path: path.read_text(encoding="utf-8") for path in sorted(dist.rglob("*.css"))}
    found = [finding for path, page in pages.items() for finding in check_html(page, _name(path, dist))]
    for path in _data_files(dist):
        found += check_data(json.loads(_read(path)), _name(path, dist))
    for path, sheet in sheets.items():
        found += check_style(sheet, _name(path, dist))
    return found + judge_slant(pages.values(), "\n".join(sheets.values()), "styles")


def _data_files(dist: Path) -> list[Path]:
    """Data, and data kept compressed; the compressed copy of a file that lies beside it counts once."""
    plain = {*dist.rglob("*.json"), *dist.rglob("*.webmanifest")}
    packed = {path for path in dist.rglob("*.json.gz") if path.with_suffix("") not in plain}
    return sorted(plain | packed)


def _read(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")


def _name(path: Path, dist: Path) -> str:
    return path.relative_to(dist).as_posix()


def _judge(found: Iterable[Passage]) -> list[Finding]:
    return [finding for passage in found for finding in judge(passage)]
