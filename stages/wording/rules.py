"""The rules of wording and typography, each from a passage to what is wrong in it.

Patterns look at the masked text (see texts.py), excerpts are cut from the text as shown.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from stages.wording.texts import FOREIGN, HAN, MASKED_HAN, Passage


class Finding(NamedTuple):
    """One fault: the name of the rule, where ("name:line"), the words around it, and what to do."""

    rule: str
    where: str
    excerpt: str
    hint: str


class _Hit(NamedTuple):
    rule: str
    start: int
    end: int
    hint: str


class Reviewed(NamedTuple):
    """A use of a listed word that is right: the word, the words around it, and the reason."""

    word: str
    context: str
    why: str


def judge(passage: Passage) -> list[Finding]:
    """Everything that is wrong with one text."""
    return [
        Finding(hit.rule, passage.where, _excerpt(passage.shown, hit), hit.hint)
        for hit in _hits(passage.masked)
    ]


def _excerpt(text: str, hit: _Hit) -> str:
    return text[max(0, hit.start - 8) : hit.end + 8]


@cache  # the same sentence stands on many pages and in many prepared answers
def _hits(text: str) -> tuple[_Hit, ...]:
    found = [*_by_pattern(text), *_by_word(text), *_by_character(text)]
    return tuple(sorted(found, key=lambda hit: (hit.start, hit.rule)))


# Typography

_H = f"[{HAN}{MASKED_HAN}]"
_LATIN = f"A-Za-z0-9{FOREIGN}"
_FULL = "，。、；：？！「」『』（）《》〈〉【】〔〕"
_ODD_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"

# rule, pattern, hint. The pattern covers the fault itself.
_PATTERNS = tuple(
    (rule, re.compile(pattern), hint)
    for rule, pattern, hint in (
        ("spacing", f"{_H}(?=[{_LATIN}])|[{_LATIN}%](?={_H})", "put one ASCII space between them"),
        ("spacing", f"(?<={_H}) (?={_H})", "no space (nor line break in the source) between Han characters"),
        ("spacing", f"(?<=[{_FULL}]) | (?=[{_FULL}])", "no space beside full-width punctuation"),
        ("spacing", f"[{_ODD_SPACES}]+", "only one plain ASCII space"),
        (
            "punctuation",
            rf"(?<={_H}) ?[,;:?!](?![\w=])| ?(?<={_H})[,;:?!]|[,;:?!] ?(?={_H})",
            "use ，；：？！",
        ),
        ("punctuation", rf"(?<={_H}) ?\.(?![\d.])|(?<![\d.])\. ?(?={_H})|(?<=\d)\.(?={_H})", "use 。"),
        ("punctuation", rf"(?<={_H}) ?[()]|[()] ?(?={_H})", "use （ ）"),
        ("punctuation", rf"(?<={_H})[\"'“”‘’]|[\"'“”‘’](?={_H})", "use 「」 or 『』"),
        ("punctuation", rf"(?<={_H}) ?\.\.+|\.\.+ ?(?={_H})|(?<!…)…(?!…)", "use ……"),
        ("punctuation", rf"(?<={_H}) ?(?:--+|—+|–)|(?:--+|—+|–) ?(?={_H})|(?<!─)─(?!─)", "use ──"),
        ("punctuation", "[Ａ-Ｚａ-ｚ０-９]+", "use ASCII letters and digits"),
    )
)


def _by_pattern(text: str) -> Iterator[_Hit]:
    for rule, pattern, hint in _PATTERNS:
        for match in pattern.finditer(text):
            yield _Hit(rule, match.start(), match.end(), hint)


# Words

_FOLDER = Path(__file__).parent
_WORDS = tomllib.loads((_FOLDER / "words.toml").read_text(encoding="utf-8"))
REVIEWED = tuple(
    Reviewed(entry["word"], entry["context"], entry["why"])
    for entry in tomllib.loads((_FOLDER / "exceptions.toml").read_text(encoding="utf-8"))["exception"]
)
WORDS: dict[str, tuple[str, str]] = {
    word: (rule, instead)
    for rule, words in (
        ("mainland", _WORDS["mainland"]),
        ("review", _WORDS["review"]),
        ("voice", _WORDS["voice"]),
        ("variant", _WORDS["variant"]),
        ("simplified", _WORDS["simplified"]["words"]),
    )
    for word, instead in words.items()
}
# Where one word begins another (文件 and 文件夾) the longer is found.
_WORD = re.compile("|".join(sorted(map(re.escape, WORDS), key=len, reverse=True)))


def _by_word(text: str) -> Iterator[_Hit]:
    for match in _WORD.finditer(text):
        rule, instead = WORDS[match[0]]
        if not _reviewed(text, match[0], match.start()):
            hint = f"{match[0]} → {instead}"
            if rule == "review":
                hint += " (or enter this use in exceptions.toml)"
            yield _Hit(rule, match.start(), match.end(), hint)


def _reviewed(text: str, word: str, start: int) -> bool:
    contexts = (entry.context for entry in REVIEWED if entry.word == word)
    return any(_covers(text, context, start, start + len(word)) for context in contexts)


def _covers(text: str, context: str, start: int, end: int) -> bool:
    at = text.find(context)
    while at != -1:
        if at <= start and end <= at + len(context):
            return True
        at = text.find(context, at + 1)
    return False


# Characters

_HAN_CHARACTER = re.compile(f"[{HAN}]")
_LOOKS_SIMPLIFIED = frozenset(_WORDS["simplified"]["characters"])


@cache
def is_simplified(character: str) -> bool:
    """Whether Taiwan does not write this Han character: it is outside Big5, or in the list of words.toml."""
    try:
        character.encode("cp950")
    except UnicodeEncodeError:
        return True
    return character in _LOOKS_SIMPLIFIED


def _by_character(text: str) -> Iterator[_Hit]:
    for match in _HAN_CHARACTER.finditer(text):
        if is_simplified(match[0]) and not _reviewed(text, match[0], match.start()):
            hint = f"{match[0]} is Simplified, or not in use in Taiwan"
            yield _Hit("simplified", match.start(), match.end(), hint)


# Slant

# Elements that browsers slant unless told otherwise; Han characters have no italics.
_SLANTED = ("address", "cite", "dfn", "em", "i", "var")


def judge_style(css: str, where: str) -> list[Finding]:
    """No rule of a style sheet may ask for italics."""
    css = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), css, flags=re.DOTALL)
    found = re.finditer(r"font(?:-style)?\s*:[^;}]*\b(?:italic|oblique)\b", css)
    hint = "Han characters have no italics: use text-emphasis or weight"
    return [Finding("italics", f"{where}:{css.count(chr(10), 0, m.start()) + 1}", m[0], hint) for m in found]


def judge_slant(pages: Iterable[str], css: str, where: str) -> list[Finding]:
    """Each element that browsers slant and a page uses must be set upright by the style sheet."""
    joined = "\n".join(pages)
    used = [tag for tag in _SLANTED if re.search(rf"<{tag}[\s>]", joined)]
    upright = _upright(css)
    hint = "set font-style: normal for it, or use another element"
    return [Finding("italics", where, f"<{tag}>", hint) for tag in used if tag not in upright]


def _upright(css: str) -> set[str]:
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    rules = re.findall(r"([^{};]+)\{([^{}]*)\}", css)
    lists = (names for names, body in rules if re.search(r"font-style\s*:\s*normal", body))
    return {name for names in lists for name in re.findall(r"[\w*-]+", re.sub(r":(?:is|where)\b", "", names))}
