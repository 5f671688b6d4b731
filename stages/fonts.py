"""Self-hosted fonts: exactly the characters of the lesson, as a few small woff2 files.

The npm packages cut Noto Sans TC and Noto Serif TC into about a hundred slices each. For every face this
stage takes the slices that hold a character we show, keeps those characters only, joins the pieces and
writes one file:

    slices that are needed -> subset each -> join -> `halt` for brackets -> our own name -> woff2

Two things the slices lack are made here. `halt` (half-width alternates) lets the browser close up two
brackets in a row: 」（ is one and a half squares wide instead of two, 」，「 two instead of three. Only
brackets get it, for a comma or full stop centred in its square, as Taiwan sets them, must keep its room.
And the name: the fonts are changed, so they do not carry the name of the originals (their licence
reserves `Source`, and a copy installed on the reader's machine must not be taken for ours).

Which characters there are is found by characters.py.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from fontTools import merge, subset  # type: ignore[import-untyped]
from fontTools import version as fonttools_version
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont, newTable  # type: ignore[import-untyped]

from stages.characters import (
    BASICS,
    CLOSING,
    OPENING,
    characters_of,
    heading_characters,
    is_drawn,
    missing_characters,
)

__all__ = [
    "FACES",
    "Face",
    "Fonts",
    "build_fonts",
    "characters_of",
    "heading_characters",
    "missing_characters",
]


@dataclass(frozen=True)
class Face:
    """One file to make: the family it is called in our styles, its weight, and the package it is cut from."""

    family: str
    weight: int
    package: str

    @property
    def stem(self) -> str:
        return f"{self.family.lower().replace(' ', '-')}-{self.weight}"


BODY = "Lockers Sans"
HEADINGS = "Lockers Serif"
FACES = (
    Face(BODY, 400, "noto-sans-tc"),
    Face(BODY, 700, "noto-sans-tc"),
    Face(HEADINGS, 900, "noto-serif-tc"),
)

RECIPE = "1"  # raise it when the same characters must give other bytes


class Fonts(TypedDict):
    """What `build_fonts` made.

    css: the @font-face rules, with addresses relative to the folder of the fonts. files: "Family weight" to
    file. preload: the names of those the first screen needs. cmap: what every body face can show; headings:
    what the heading face can. missing: what was asked of a face that its package does not have."""

    css: str
    files: dict[str, Path]
    preload: list[str]
    cmap: frozenset[str]
    headings: frozenset[str]
    missing: frozenset[str]


class Slice(NamedTuple):
    """One file of a package and the code points its style sheet promises (it may hold fewer)."""

    path: Path
    ranges: tuple[tuple[int, int], ...]

    def promises(self, character: str) -> bool:
        return any(low <= ord(character) <= high for low, high in self.ranges)


def build_fonts(
    node_modules: Path, characters: set[str], out: Path, cache: Path, headings: set[str] | None = None
) -> Fonts:
    """Write one woff2 file a face into `out` and say what was made.

    node_modules: where the npm packages lie. characters: what the pages show; BASICS are added. headings:
    what is set in the heading face, all characters if left out. cache: a folder of finished files by content;
    it may be deleted at any time. The same input gives the same bytes. Raises FileNotFoundError naming the
    package when it is not installed."""
    out.mkdir(parents=True, exist_ok=True)
    asked = {BODY: characters, HEADINGS: characters if headings is None else headings}
    wanted = {face: _wanted(asked[face.family]) for face in FACES}
    made = {face: _cached(face, wanted[face], node_modules, cache) for face in FACES}
    files = {face: _write(out, face, data) for face, data in made.items()}
    shown = {face: _shown(data) for face, data in made.items()}
    return Fonts(
        css="".join(_rule(face, file.name) for face, file in files.items()),
        files={f"{face.family} {face.weight}": file for face, file in files.items()},
        preload=[file.name for face, file in files.items() if face.weight != 700],
        cmap=frozenset.intersection(*(shown[face] for face in FACES if face.family == BODY)),
        headings=frozenset.intersection(*(shown[face] for face in FACES if face.family == HEADINGS)),
        missing=frozenset().union(*(wanted[face] - shown[face] for face in FACES)),
    )


def _wanted(characters: set[str]) -> frozenset[str]:
    return frozenset(c for c in characters | BASICS if is_drawn(c))


def _write(out: Path, face: Face, data: bytes) -> Path:
    file = out / f"{face.stem}.woff2"
    file.write_bytes(data)
    return file


def _shown(data: bytes) -> frozenset[str]:
    return frozenset(map(chr, TTFont(io.BytesIO(data), lazy=True).getBestCmap()))


def _rule(face: Face, name: str) -> str:
    # swap: the text is readable at once, and as Han characters are square in every font hardly a line moves.
    return (
        f'@font-face {{\n  font-family: "{face.family}";\n  font-style: normal;\n'
        f"  font-weight: {face.weight};\n  font-display: swap;\n"
        f'  src: url("{name}") format("woff2");\n}}\n'
    )


def _cached(face: Face, characters: frozenset[str], node_modules: Path, cache: Path) -> bytes:
    kept = cache / f"{face.stem}-{_key(face, characters, node_modules)}.woff2"
    if kept.exists():
        return kept.read_bytes()
    data = _make(face, characters, _slices(_folder(node_modules, face), face.weight))
    cache.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    part.write_bytes(data)
    part.replace(kept)  # a build that is broken off leaves no half file behind
    return data


def _key(face: Face, characters: frozenset[str], node_modules: Path) -> str:
    package = json.loads((_folder(node_modules, face) / "package.json").read_text(encoding="utf-8"))
    parts = (RECIPE, face.family, str(face.weight), package["name"], package["version"], fonttools_version)
    return hashlib.sha256("\n".join((*parts, "".join(sorted(characters)))).encode()).hexdigest()[:20]


def _folder(node_modules: Path, face: Face) -> Path:
    folder = node_modules / "@fontsource" / face.package
    if not folder.is_dir():
        raise FileNotFoundError(f"@fontsource/{face.package} is not in {node_modules}: run `npm ci`")
    return folder


def _slices(folder: Path, weight: int) -> list[Slice]:
    """The slices of a package in the order of precedence: in CSS the rule that comes last wins."""
    sheet = (folder / f"{weight}.css").read_text(encoding="utf-8")
    # Each slice is there as .woff too: the same outlines, and much faster to read than .woff2.
    found = re.findall(r"url\(\./(files/[^)]+\.woff)\).*?unicode-range:\s*([^;]+);", sheet, re.DOTALL)
    return [Slice(folder / name, _ranges(text)) for name, text in reversed(found)]


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    bounds = (part.strip().upper().removeprefix("U+").split("-") for part in text.split(","))
    return tuple((int(bound[0], 16), int(bound[-1], 16)) for bound in bounds)


def _make(face: Face, characters: frozenset[str], slices: list[Slice]) -> bytes:
    font = _join([_part(path, text) for path, text in _parts(characters, slices)])
    _keep(font, {c for c in characters if ord(c) in font.getBestCmap()}, ["halt", "kern"])
    _order_features(font)
    _rename(font, face)
    return _bytes(font, "woff2")


def _parts(characters: frozenset[str], slices: list[Slice]) -> Iterator[tuple[Path, str]]:
    """Which characters to take from which slice. Latin goes by itself: it alone is kerned."""
    left = set(characters)
    for piece in slices:
        hoped = {c for c in left if piece.promises(c)}
        if not hoped:
            continue
        held = _open(piece.path).getBestCmap()
        here = {c for c in hoped if ord(c) in held}
        left -= here
        for text in ("".join(sorted(c for c in here if _is_latin(c) is latin)) for latin in (True, False)):
            if text:
                yield piece.path, text


def _open(path: Path) -> TTFont:
    return TTFont(io.BytesIO(path.read_bytes()), lazy=True, recalcTimestamp=False)


def _is_latin(text: str) -> bool:
    return text[0] < "\u0250"


def _part(path: Path, text: str) -> bytes:
    """These characters of one slice, as a font of its own."""
    font = _open(path)
    _keep(font, set(text), ["kern"] if _is_latin(text) else [])
    if not _is_latin(text):
        _add_halt(font)
    return _bytes(font, None)


def _keep(font: TTFont, characters: set[str], features: list[str]) -> None:
    options = subset.Options()
    options.layout_features = features
    options.hinting = False
    options.notdef_outline = True
    options.drop_tables += ["BASE", "GSUB", "STAT", "VORG", "gasp", "vhea", "vmtx"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=map(ord, characters))
    subsetter.subset(font)


def _add_halt(font: TTFont) -> None:
    """Half-width brackets. The ink of an opening one is in the right half of its square: it moves left."""
    glyphs = font.getBestCmap()
    half = font["head"].unitsPerEm // 2
    moves = [(c, f"<-{half} 0 -{half} 0>") for c in OPENING] + [(c, f"<0 0 -{half} 0>") for c in CLOSING]
    lines = [f"pos {glyphs[ord(c)]} {move};" for c, move in moves if ord(c) in glyphs]
    if lines:
        systems = "".join(f"languagesystem {script} dflt;\n" for script in ("DFLT", "hani", "kana", "latn"))
        addOpenTypeFeaturesFromString(font, systems + "feature halt {\n" + "\n".join(lines) + "\n} halt;\n")


def _join(parts: list[bytes]) -> TTFont:
    options = merge.Options()
    options.drop_tables = ["GDEF"]
    font: TTFont = merge.Merger(options).merge([io.BytesIO(part) for part in parts])
    first = TTFont(io.BytesIO(parts[0]))["head"]
    font["head"].created, font["head"].modified = first.created, first.modified
    font.recalcTimestamp = False
    return font


def _order_features(font: TTFont) -> None:
    """By name, as the format wants it; joining leaves them in the order of the parts."""
    table = font["GPOS"].table
    records = table.FeatureList.FeatureRecord
    order = sorted(range(len(records)), key=lambda index: records[index].FeatureTag)
    table.FeatureList.FeatureRecord = [records[index] for index in order]
    scripts = (record.Script for record in table.ScriptList.ScriptRecord)
    systems = {id(script.DefaultLangSys): script.DefaultLangSys for script in scripts}  # scripts share them
    for system in systems.values():
        system.FeatureIndex = sorted(order.index(index) for index in system.FeatureIndex)


def _rename(font: TTFont, face: Face) -> None:
    """Our own name, with the copyright, version and licence of the original (the licence asks for them)."""
    source = {record: font["name"].getDebugName(record) for record in (0, 5)}
    style = {400: "Regular", 700: "Bold", 900: "Black"}[face.weight]
    postscript = f"{face.family.replace(' ', '')}-{style}"
    names = {
        0: f"{source[0]} Subset, joined and renamed for this lesson.",
        1: face.family if face.weight in (400, 700) else f"{face.family} {style}",
        2: style if face.weight in (400, 700) else "Regular",
        3: f"{postscript};{source[5]}",
        4: f"{face.family} {style}",
        5: source[5],
        6: postscript,
        13: "This Font Software is licensed under the SIL Open Font License, Version 1.1.",
        14: "https://openfontlicense.org",
    }
    table: Any = newTable("name")
    table.names = []
    for record, text in names.items():
        table.setName(text, record, 3, 1, 0x409)
    font["name"] = table
    font["OS/2"].usWeightClass = face.weight


def _bytes(font: TTFont, flavor: str | None) -> bytes:
    font.flavor = flavor
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()
