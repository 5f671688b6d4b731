"""The scripts of the site: one file each with all that it imports, and an error for what cannot be had."""

import re
from pathlib import Path

import pytest

from stages.cache import Cache
from stages.scripts import APART, ENTRIES, make_scripts

ROOT = Path(__file__).resolve().parents[2]
STATIC = re.compile(r"""(?:\bfrom|\bimport)\s*["']([^"']+)["']""")


def test_a_script_asks_for_no_other_file_to_begin_with(site: Path) -> None:
    for entry in ("app.mjs", "worker.mjs"):
        (file,) = (site / "assets").glob(entry.replace(".", ".*."))
        assert STATIC.findall(file.read_text()) == []
    names = {re.sub(r"\.[0-9a-f]{12}\.", ".", file.name) for file in (site / "assets").glob("*.mjs")}
    assert names == {*ENTRIES, *APART}


def test_pages_name_their_styles_before_the_script_that_waits_for_them(site: Path) -> None:
    for page in [site / "index.html", *(site / "embed").glob("*.html")]:
        head = page.read_text().partition("</head>")[0]
        places = [
            head.index(mark) for mark in ("assets/early.", 'as="font"', "assets/lesson.", 'type="module"')
        ]
        assert places == sorted(places)
        assert re.search(r"<script[^>]*\b(async|defer)\b", head) is None


def test_an_import_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    app = tmp_path / "site" / "app"
    app.mkdir()
    for file in (ROOT / "site" / "app").iterdir():
        (app / file.name).write_bytes(file.read_bytes())
    written = {"runtime.mjs": "export const [wasm, image, stdlib, sizes, tag, version] = [];"}
    with pytest.raises(RuntimeError, match=r"(?s)esbuild failed.*runtime\.mjs"):
        make_scripts(tmp_path, written, Cache(tmp_path / "cache"))
    (app / "line.mjs").unlink()
    with pytest.raises(RuntimeError, match=r"line\.mjs"):
        make_scripts(tmp_path, written, Cache(tmp_path / "cache"))
