"""The same sources give the same bytes, the image of Python's memory included, whatever the caches hold."""

from pathlib import Path

import build


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


def test_a_build_from_nothing_gives_the_same_bytes(site: Path, tmp_path: Path) -> None:
    build.build(tmp_path / "again", reuse=False)
    first, second = contents(site), contents(tmp_path / "again")
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert any(name.endswith(".image.gz") for name in first)


def test_a_build_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "dist"
    out.mkdir()
    (out / "index.html").write_text("old")
    try:
        with build.Replacement(out) as folder:
            (folder / "index.html").write_text("new")
            raise ValueError("stop")
    except ValueError:
        pass
    assert (out / "index.html").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["dist"]
