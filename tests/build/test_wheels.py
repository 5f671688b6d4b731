"""The wheels that go to the browser: pure, whole, and without what only the build needs."""

import base64
import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from stages.wheel import only, repack_pure

ROOT = Path(__file__).resolve().parents[2]


def names(site: Path, package: str) -> list[str]:
    (wheel,) = (site / "assets").glob(f"{package}-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        return packed.namelist()


def test_our_wheel_has_the_scenes_and_no_pages(site: Path) -> None:
    inside = names(site, "locker_lesson")
    assert "scenes/stage.py" in inside
    assert "templates/scenes/admission.html" in inside
    assert not [name for name in inside if name.startswith("templates/pages")]
    assert {name.split("/")[0].split("-")[0] for name in inside} == {
        "sim",
        "scenes",
        "templates",
        "locker_lesson",
    }


def test_markupsafe_is_repacked_whole_but_for_what_is_compiled(tmp_path: Path) -> None:
    original = only(ROOT / ".cache" / "wheels", "markupsafe")
    pure = repack_pure(original, tmp_path)
    with zipfile.ZipFile(original) as old, zipfile.ZipFile(pure) as new:
        dropped = set(old.namelist()) - set(new.namelist())
        assert all(name.endswith((".so", ".c", "/")) for name in dropped)
        assert dropped
        record = next(name for name in new.namelist() if name.endswith("/RECORD"))
        for line in new.read(record).decode().splitlines():
            name, sha, size = line.split(",")
            if sha:
                digest = (
                    base64.urlsafe_b64encode(hashlib.sha256(new.read(name)).digest()).rstrip(b"=").decode()
                )
                assert (sha, int(size)) == (f"sha256={digest}", len(new.read(name)))
    assert repack_pure(original, tmp_path).read_bytes() == pure.read_bytes()


def test_a_missing_wheel_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has 0 wheels of jinja2.*make setup"):
        only(tmp_path, "jinja2")


def test_pyodide_is_the_one_that_the_image_needs() -> None:
    installed = json.loads((ROOT / "node_modules/pyodide/package.json").read_text())["version"]
    assert (
        installed == json.loads((ROOT / "package.json").read_text())["dependencies"]["pyodide"] == "314.0.7"
    )
