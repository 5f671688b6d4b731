"""The fonts hold exactly what the pages show, drawn as in the originals, and nothing else."""

from __future__ import annotations

import base64
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser

from stages import fonts
from stages.characters import BASICS, CLOSING, OPENING
from stages.fonts import FACES, Fonts

ROOT = Path(__file__).resolve().parents[2]
NODE_MODULES = ROOT / "node_modules"
SHOWN = set("只用了格，為什麼占？行李越放越多①⑩≈≤≥→▶◀−＋")
IN_HEADINGS = set("只用了格，為什麼占？")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Fonts:
    folder = tmp_path_factory.mktemp("fonts")
    return fonts.build_fonts(NODE_MODULES, SHOWN, folder / "out", folder / "cache", IN_HEADINGS)


@pytest.fixture(params=[f"{face.family} {face.weight}" for face in FACES])
def font(request: pytest.FixtureRequest, built: Fonts) -> TTFont:
    return _open(built["files"][request.param])


def _open(path: Path) -> TTFont:
    return TTFont(io.BytesIO(path.read_bytes()))


def _lookups(font: TTFont, tag: str) -> list[Any]:
    table = font["GPOS"].table
    features = [record.Feature for record in table.FeatureList.FeatureRecord if record.FeatureTag == tag]
    wanted = sorted({index for feature in features for index in feature.LookupListIndex})
    return [table.LookupList.Lookup[index] for index in wanted]


def _moves(font: TTFont, tag: str) -> dict[str, tuple[int, int]]:
    """Glyph -> (move of the ink, change of the width), of the single adjustments of a feature."""
    found: dict[str, tuple[int, int]] = {}
    for lookup in _lookups(font, tag):
        for part in lookup.SubTable:
            values = part.Value if part.Format == 2 else [part.Value] * len(part.Coverage.glyphs)
            for glyph, value in zip(part.Coverage.glyphs, values, strict=True):
                found[glyph] = (getattr(value, "XPlacement", 0), value.XAdvance)
    return found


def _drawing(font: TTFont, character: str) -> tuple[Any, ...]:
    glyph = font.getBestCmap()[ord(character)]
    pen = DecomposingRecordingPen(font.getGlyphSet())
    font.getGlyphSet()[glyph].draw(pen)
    return (font["hmtx"][glyph], pen.value)


def test_holds_what_was_asked_for_and_nothing_else(built: Fonts) -> None:
    body = {c for c in SHOWN | BASICS if c.isprintable() or c in "\u00a0\u3000"}
    assert built["cmap"] == body
    assert built["headings"] == {c for c in IN_HEADINGS | BASICS if c.isprintable() or c in "\u00a0\u3000"}
    assert built["missing"] == frozenset()


def test_says_what_the_source_lacks(built: Fonts, tmp_path: Path) -> None:
    made = fonts.build_fonts(NODE_MODULES, {"格", "⌈"}, tmp_path / "out", tmp_path / "cache", set())
    assert made["missing"] == {"⌈"}
    assert "⌈" not in made["cmap"]
    assert "格" in made["cmap"]


def test_every_glyph_is_the_one_of_the_original(built: Fonts) -> None:
    for face in FACES:
        font = _open(built["files"][f"{face.family} {face.weight}"])
        slices = fonts._slices(NODE_MODULES / "@fontsource" / face.package, face.weight)
        left = set(map(chr, font.getBestCmap()))
        for path, text in fonts._parts(frozenset(left), slices):
            source = _open(path)
            for character in text:
                assert _drawing(font, character) == _drawing(source, character), (face, character)
                left.remove(character)
        assert left == set()


def test_brackets_close_up_and_commas_do_not(font: TTFont) -> None:
    glyphs, moves = font.getBestCmap(), _moves(font, "halt")
    opening, closing = ([glyphs[ord(c)] for c in brackets] for brackets in (OPENING, CLOSING))
    assert moves == dict.fromkeys(opening, (-500, -500)) | dict.fromkeys(closing, (0, -500))
    # No ink is cut off: it stands in the half that stays.
    assert all(font["glyf"][glyph].xMin >= 500 for glyph in opening)
    assert all(font["glyf"][glyph].xMax <= 500 for glyph in closing)


def test_brackets_close_up_in_han_text(font: TTFont) -> None:
    table = font["GPOS"].table
    scripts = {record.ScriptTag: record.Script.DefaultLangSys for record in table.ScriptList.ScriptRecord}
    for script in ("DFLT", "hani", "latn"):
        tags = [table.FeatureList.FeatureRecord[i].FeatureTag for i in scripts[script].FeatureIndex]
        assert sorted(tags) == ["halt", "kern"], script
    names = [record.FeatureTag for record in table.FeatureList.FeatureRecord]
    assert names == sorted(names)


def test_a_browser_closes_brackets_up(built: Fonts, browser: Browser) -> None:
    texts = {
        "」（「": 36,
        "」，「": 36,
        "，。": 36,
        "格格": 36,
    }  # px at 18 px; without halt the first two are 54
    page = browser.new_page()
    for name, file in built["files"].items():
        data = base64.b64encode(file.read_bytes()).decode()
        page.set_content(
            f"<meta charset=utf-8><style>@font-face {{ font-family: x; src: url(data:;base64,{data}) }}"
            "span { font: 18px x }</style>" + "".join(f"<p><span>{text}</span></p>" for text in texts)
        )
        assert page.evaluate("async () => (await document.fonts.load('18px x', '格')).length") == 1
        widths = "() => [...document.querySelectorAll('span')].map((e) => e.getBoundingClientRect().width)"
        assert page.evaluate(widths) == list(texts.values()), name
    page.close()


def test_figures_of_the_body_are_of_one_width(built: Fonts) -> None:
    for weight in (400, 700):
        font = _open(built["files"][f"{fonts.BODY} {weight}"])
        assert len({font["hmtx"][font.getBestCmap()[ord(digit)]][0] for digit in "0123456789"}) == 1


def test_latin_stays_kerned(font: TTFont) -> None:
    assert any(lookup.SubTable for lookup in _lookups(font, "kern"))


def test_carries_no_reserved_name_but_its_licence(font: TTFont) -> None:
    names = {record.nameID: record.toUnicode() for record in font["name"].names}
    assert not any(word in names[record] for record in (1, 3, 4, 6) for word in ("Source", "Noto"))
    assert "Adobe" in names[0]
    assert "SIL Open Font License" in names[13]
    assert not {"vhea", "vmtx", "VORG", "BASE", "STAT", "fpgm", "prep", "GSUB"} & set(font.keys())


def test_the_licence_is_shipped() -> None:
    text = (ROOT / "site/fonts/OFL.txt").read_text(encoding="utf-8")
    assert "Reserved Font Name 'Source'" in text
    assert "PERMISSION & CONDITIONS" in text


def test_the_style_rules_name_the_files(built: Fonts) -> None:
    for face in FACES:
        file = built["files"][f"{face.family} {face.weight}"]
        assert f'font-family: "{face.family}";' in built["css"]
        assert f'src: url("{file.name}")' in built["css"]
        assert _open(file)["OS/2"].usWeightClass == face.weight
    assert built["css"].count("@font-face") == len(FACES)
    assert set(built["preload"]) < {file.name for file in built["files"].values()}


def test_same_characters_same_bytes(built: Fonts, tmp_path: Path) -> None:
    again = fonts.build_fonts(NODE_MODULES, SHOWN, tmp_path / "out", tmp_path / "cache", IN_HEADINGS)
    assert {name: file.read_bytes() for name, file in again["files"].items()} == {
        name: file.read_bytes() for name, file in built["files"].items()
    }


def test_a_finished_file_is_not_made_again(
    built: Fonts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> bytes:
        raise RuntimeError("made again")

    monkeypatch.setattr(fonts, "_make", refuse)
    cache = built["files"][f"{fonts.BODY} 400"].parent.parent / "cache"
    assert fonts.build_fonts(NODE_MODULES, SHOWN, tmp_path, cache, IN_HEADINGS)["cmap"] == built["cmap"]
    with pytest.raises(RuntimeError):
        fonts.build_fonts(NODE_MODULES, SHOWN | {"車"}, tmp_path, cache, IN_HEADINGS)


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="@fontsource/noto-sans-tc"):
        fonts.build_fonts(tmp_path, {"格"}, tmp_path / "out", tmp_path / "cache")


SOURCES = {
    "page.html": "<p>甲{# 註 #}<!-- 解 -->&hellip;&#x2460;</p>",
    "app.mjs": "// 註\nconst a = '乙//丁'; /* 解 */ const b = '\\u4e19\\u{1f600}\\ud83d\\ude01', c = `戊`;",
    "look.css": '/* 註 */ .x::before { content: "己\\25b6"; }',
    "frames.json": '{"html": "\\u5e9a&times;"}',
    "scene.py": '"""註"""\n# 解\nMARK = "壬"\nTEXT = f"{MARK}癸\\u5b50"\n',
    "notes.md": "辛",
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "more.json.gz").write_bytes(gzip.compress('["丑"]'.encode()))
    return tmp_path


def test_characters_of_all_kinds_of_source(sources: Path) -> None:
    found = fonts.characters_of([sources])
    assert set("甲乙丙丁戊己庚壬癸子丑…①▶×😀😁") <= found
    assert not set("註解辛") & found, "comments and other files never reach the reader"
    assert set(fonts.characters_of([])) == set(BASICS)


def test_missing_characters_are_named_with_their_place(sources: Path) -> None:
    have = fonts.characters_of([sources])
    assert fonts.missing_characters([sources], have) == []
    found = fonts.missing_characters([sources], have - {"戊", "己"})
    assert [(m.character, m.code) for m in found] == [("己", "U+5DF1"), ("戊", "U+620A")]
    assert [m.where.rpartition("/")[2] for m in found] == ["look.css:1", "app.mjs:2"]


def test_heading_characters_leave_tags_and_prose_out() -> None:
    page = '<h1>只用<b class="x">了</b></h1><p>行李</p><h2 id="a">占&nbsp;格</h2>'
    assert fonts.heading_characters([page]) == set("只用了占格\u00a0")


def test_heading_characters_follow_the_styles() -> None:
    styles = """/* .w { font: var(--serif) } */ h1, .pull { font-family: var(--serif) }
        .n b { font: 900 1em var(--serif) } .w { color: red }"""
    page = """<h1>甲</h1><h2>乙</h2><p class="a pull">丙<br><i>丁</i></p>
        <p class="n">戊</p><p class="w">己<svg/></p>"""
    assert fonts.heading_characters([page], styles) == set("甲丙丁戊")


def test_every_character_of_the_site_has_a_glyph(site: Path) -> None:
    files = sorted(site.rglob("lockers-sans-*.woff2"))
    assert len(files) == 2
    for file in files:
        lacking = fonts.missing_characters([site], map(chr, _open(file).getBestCmap()))
        assert not lacking, "\n".join(map(str, lacking))


def test_every_heading_has_its_glyphs(site: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    (file,) = site.rglob("lockers-serif-*.woff2")
    lacking = fonts.heading_characters(pages, styles) - set(map(chr, _open(file).getBestCmap()))
    assert not lacking, "".join(sorted(lacking))
