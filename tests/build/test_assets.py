"""Hashed names: every reference follows, and a wrong one stops the build."""

import pytest

from stages.assets import Assets


def named(**files: str) -> Assets:
    assets = Assets()
    for name, text in files.items():
        assets.add(name.replace("_", "."), text.encode())
    return assets


def test_references_follow_the_hashed_names() -> None:
    assets = named(
        a_mjs='import { b } from "./b.mjs"; const c = import("./c.mjs"); new URL("./d.gz", import.meta.url)',
        b_mjs="export const b = 1;",
        c_mjs='import "./b.mjs";',
        d_gz="d",
    )
    assets.finish()
    text = assets.files[assets.url("a.mjs")].decode()
    for name in ("b.mjs", "c.mjs", "d.gz"):
        assert f'"./{assets.url(name)}"' in text
    assert assets.url("b.mjs") in assets.files[assets.url("c.mjs")].decode()


def test_styles_follow_too_and_leave_data_alone() -> None:
    assets = named(
        a_css='@import "./b.css"; a { src: url("../x/f.woff2") } b { src: url(data:,x) }',
        b_css="",
        f_woff2="f",
    )
    assets.finish()
    text = assets.files[assets.url("a.css")].decode()
    assert f'@import "./{assets.url("b.css")}"' in text
    assert f'url("{assets.url("f.woff2")}")' in text
    assert "url(data:,x)" in text


def test_a_change_of_a_leaf_changes_every_name_above_it() -> None:
    first, second = (named(a_mjs='import "./b.mjs";', b_mjs=f"export default {n};") for n in (1, 2))
    assert first.url("a.mjs") != second.url("a.mjs")
    assert first.url("a.mjs") == named(a_mjs='import "./b.mjs";', b_mjs="export default 1;").url("a.mjs")


def test_wrong_references_stop_the_build() -> None:
    with pytest.raises(ValueError, match=r"a\.mjs -> nowhere\.mjs: there is no such asset"):
        named(a_mjs='import "./nowhere.mjs";').finish()
    with pytest.raises(ValueError, match="in a circle"):
        named(a_mjs='import "./b.mjs";', b_mjs='import "./a.mjs";').finish()
    with pytest.raises(ValueError, match=r"two assets are called a\.mjs"):
        named(a_mjs="").add("a.mjs", b"")


def test_compound_suffixes_stay_whole() -> None:
    url = named(**{"python_image_gz": "x"}).url("python.image.gz")
    assert url.startswith("python.")
    assert url.endswith(".image.gz")
