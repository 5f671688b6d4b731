"""The last stage finds each fault that it is there to find."""

from pathlib import Path

import pytest

from stages.check import check
from stages.policy import CSP

META = f'<meta http-equiv="Content-Security-Policy" content="{CSP}">'


def write(folder: Path, body: str, meta: str = META) -> Path:
    (folder / "embed").mkdir()
    (folder / "a.css").write_text("")
    (folder / "index.html").write_text(f"<!doctype html>{meta}{body}")
    (folder / "embed" / "x.html").write_text(
        f'<!doctype html>{META}<a href="../index.html#there">x</a><p id="x">'
    )
    return folder


GOOD = '<p id="there"><link href="a.css"><a href="embed/x.html#x">x</a><a href="https://example.org/">y</a>'


def test_a_good_site_passes(tmp_path: Path) -> None:
    check(write(tmp_path, GOOD))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('<link href="b.css">', "b.css leads nowhere"),
        ('<a href="embed/x.html#y">', "no such id"),
        ('<a href="/index.html">', "not relative"),
        ('<script src="https://example.org/x.js"></script>', "loaded from elsewhere"),
        ("<script>1</script>", "a script stands in the page"),
        ('<p style="color:red">', "style of its own"),
        ("<style></style>", "style of its own"),
        ('<p onclick="x()">', "onclick"),
        ('<p id="there">', "stands twice"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check(write(tmp_path, GOOD + more))


def test_a_page_without_our_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="policy is missing"):
        check(write(tmp_path, GOOD, meta=""))


def test_data_blocks_are_no_scripts(tmp_path: Path) -> None:
    check(write(tmp_path, GOOD + '<script type="application/json">{}</script>'))
