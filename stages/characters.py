"""Which characters reach the reader, and where each stands.

They are read from the sources: templates, scripts, styles, and the few signs that scenes write.
Figures are ASCII and always in (BASICS). The same reading proves of the finished site that each
character has a glyph.
"""

from __future__ import annotations

import ast
import gzip
import html
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from stages.wording.texts import VOID

OPENING = "「『（《〈【〔"
CLOSING = "」』）》〉】〕"
# Always in: what figures, ranges and addresses are written with, the marks of Chinese prose, the dot that
# `text-emphasis` draws and the ellipsis of `text-overflow`; neither of the last two stands in any source.
BASICS = frozenset(
    "".join(map(chr, range(0x20, 0x7F))) + OPENING + CLOSING + "\u00a0\u3000，。、；：？！……──·～–−×÷•●"
)


class Missing(NamedTuple):
    """A character without a glyph, its code point (such as U+9801), and "path:line" of its first place."""

    character: str
    code: str
    where: str


def characters_of(paths: Iterable[Path]) -> set[str]:
    """Every character that can reach the reader from these files and folders, and BASICS.

    Read are Jinja and HTML (.html .jinja .j2 .svg), scripts (.mjs .js), styles (.css), data (.json
    .json.gz .webmanifest) and strings of Python (.py); comments and docstrings do not count, escapes and
    entities do. Other files are passed over."""
    found: set[str] = set(BASICS)
    for path in _files(paths):
        found.update(_reader_text(path))
    return {c for c in found if is_drawn(c)}


def missing_characters(paths: Iterable[Path], cmap: Iterable[str]) -> list[Missing]:
    """The characters of these files and folders that are not in `cmap`, each with its first place."""
    have = set(cmap)
    found: dict[str, Missing] = {}
    for path in _files(paths):
        text = _reader_text(path)
        for character in sorted(set(text) - have - found.keys()):
            if is_drawn(character):
                line = text.count("\n", 0, text.index(character)) + 1
                found[character] = Missing(character, f"U+{ord(character):04X}", f"{path}:{line}")
    return [found[character] for character in sorted(found)]


def heading_characters(pages: Iterable[str], styles: str = "") -> set[str]:
    """The characters that these pages (HTML text) set in the heading face.

    styles: the style sheets; what stands inside an element or class that a rule with `var(--serif)` names
    counts (all of `.count` for `.count b`). Without them h1, h2 and h3 count."""
    names = _set_in_headings(styles) if styles else frozenset({"h1", "h2", "h3"})
    found: set[str] = set()
    for page in pages:
        reader = _Headings(names)
        reader.feed(page)
        reader.close()
        found |= reader.found
    return {c for c in found if is_drawn(c)}


def _set_in_headings(styles: str) -> frozenset[str]:
    rules = re.findall(r"([^{};]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL))
    selectors = [part for names, body in rules if "var(--serif)" in body for part in names.split(",")]
    classes = {name for part in selectors for name in re.findall(r"\.([\w-]+)", part)}
    return frozenset(classes | {part.strip() for part in selectors if "." not in part})


class _Headings(HTMLParser):
    """Gathers the text inside the elements and classes of these names."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.found: set[str] = set()
        self._names = names
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        names = {tag, *(dict(attrs).get("class") or "").split()}
        around = bool(self._open) and self._open[-1][1]
        self._open.append((tag, around or not names.isdisjoint(self._names)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An empty element holds no text."""

    def handle_endtag(self, tag: str) -> None:
        while self._open and any(name == tag for name, _ in self._open):
            if self._open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][1]:
            self.found.update(data)


def is_drawn(character: str) -> bool:
    """Whether a font needs the character: not if it is a control, a joiner or a variation selector."""
    code = ord(character)
    return not (code < 0x20 or 0x7F <= code < 0xA0 or code in _IGNORED or 0xFE00 <= code <= 0xFE0F)


_IGNORED = frozenset({0xAD, 0xFEFF, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)})


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in inside if file.is_file() and _kind(file) in _READERS)


def _kind(path: Path) -> str:
    return ".json.gz" if path.name.endswith(".json.gz") else path.suffix


def _reader_text(path: Path) -> str:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return _READERS[_kind(path)](text)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")  # line numbers stay right


def _of_html(text: str) -> str:
    return html.unescape(re.sub(r"\{#.*?#\}|<!--.*?-->", _blank, text, flags=re.DOTALL))


# A string is passed over whole, so that // or /* inside it begins no comment.
_SCRIPT = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|//[^\n]*|/\*.*?\*/""", re.DOTALL
)
_ESCAPE = re.compile(r"\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _of_script(text: str) -> str:
    return _unescaped(_SCRIPT.sub(lambda match: match[1] or _blank(match), text))


def _unescaped(text: str) -> str:
    """Escapes as characters; an escaped pair of surrogates is one character."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), text)
    return _PAIR.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _of_style(text: str) -> str:
    text = re.sub(r"/\*.*?\*/", _blank, text, flags=re.DOTALL)
    return re.sub(r"\\([0-9a-fA-F]{1,6})\s?", lambda match: chr(int(match[1], 16)), text)


def _of_data(text: str) -> str:
    return html.unescape(_unescaped(text))


def _of_python(text: str) -> str:
    """The string constants, each on its line; of an f-string its parts. A docstring is a comment."""
    tree = ast.parse(text)
    remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    lines = [""] * (text.count("\n") + 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in remarks:
            lines[node.lineno - 1] += node.value.replace("\n", " ")
    return "\n".join(lines)


_READERS = {
    **dict.fromkeys((".html", ".jinja", ".j2", ".svg"), _of_html),
    **dict.fromkeys((".mjs", ".js"), _of_script),
    **dict.fromkeys((".json", ".json.gz", ".webmanifest"), _of_data),
    ".css": _of_style,
    ".py": _of_python,
}
