"""The gallery itself can fail: a changed picture, one that is not there, one of another size."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from tests.looks import odiff
from tests.looks.gallery import Gallery, OtherBrowser, Renewed

SIZE = (400, 300)
PIXELS = SIZE[0] * SIZE[1]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odiff.install(tmp_path_factory.mktemp("odiff"))


@pytest.fixture
def gallery(tmp_path: Path, program: Path) -> Gallery:
    """A gallery for Chromium 156 that holds one picture, ``wall``."""
    first = visited(tmp_path, program, 156, renew=True)
    with pytest.warns(Renewed):
        first.check("wall", drawn())
    return visited(tmp_path, program, 156)


def visited(folder: Path, program: Path, major: int, system: str = "linux", renew: bool = False) -> Gallery:
    return Gallery(folder / "kept", folder / "results", program, major, system, renew)


def drawn(size: tuple[int, int] = SIZE, move: int = 0) -> Image.Image:
    """A wall of sixty lockers, ``move`` pixels lower."""
    picture = Image.new("RGB", size, (250, 246, 238))
    draw = ImageDraw.Draw(picture)
    for n in range(60):
        x, y = 10 + n % 12 * 32, 20 + n // 12 * 50 + move
        draw.rounded_rectangle((x, y, x + 26, y + 40), 4, fill=(34, 89, 189))
    return picture


def dotted(pixels: int) -> Image.Image:
    """The wall with red dots at its top."""
    picture = drawn()
    for n in range(pixels):
        picture.putpixel((n % SIZE[0], n // SIZE[0]), (255, 0, 0))
    return picture


def left_behind(gallery: Gallery) -> set[str]:
    return {one.name for one in gallery.results.iterdir()} if gallery.results.is_dir() else set()


ALL_THREE = {"wall.expected.png", "wall.actual.png", "wall.diff.png"}


def test_the_same_picture_passes_and_leaves_nothing(gallery: Gallery) -> None:
    gallery.check("wall", drawn())
    assert left_behind(gallery) == set()


def test_pictures_are_kept_without_loss(gallery: Gallery) -> None:
    with Image.open(gallery.folder / "wall.webp") as kept:
        assert kept.convert("RGB").tobytes() == drawn().tobytes()


@pytest.mark.parametrize("pixels", [1, PIXELS // 1000])
def test_a_thousandth_of_the_pixels_may_differ(gallery: Gallery, pixels: int) -> None:
    gallery.check("wall", dotted(pixels))
    assert left_behind(gallery) == set()


def test_any_pixel_may_be_a_shade_off(gallery: Gallery) -> None:
    gallery.check("wall", drawn().point([min(value + 3, 255) for value in range(256)] * 3))


def test_more_than_a_thousandth_fails_and_shows_what_differs(gallery: Gallery) -> None:
    with pytest.raises(AssertionError, match=r"wall: 0\.10 % of the pixels differ"):
        gallery.check("wall", dotted(PIXELS // 1000 + 1))
    assert left_behind(gallery) == ALL_THREE
    with Image.open(gallery.results / "wall.diff.png") as diff:
        assert diff.size == SIZE
    gallery.check("wall", drawn())  # put right, it leaves nothing
    assert left_behind(gallery) == set()


def test_a_locker_that_is_gone_fails(gallery: Gallery) -> None:
    picture = drawn()
    ImageDraw.Draw(picture).rectangle((10, 20, 36, 60), fill=(250, 246, 238))
    with pytest.raises(AssertionError, match="pixels differ"):
        gallery.check("wall", picture)


@pytest.mark.parametrize("size", [(400, 301), (400, 299), (401, 300), (399, 300)])
def test_another_size_fails_and_shows_what_differs(gallery: Gallery, size: tuple[int, int]) -> None:
    with pytest.raises(AssertionError, match=f"is {size[0]} x {size[1]}, must be 400 x 300 pixels"):
        gallery.check("wall", drawn(size))
    assert left_behind(gallery) == ALL_THREE


def test_a_picture_that_is_not_there_fails_and_is_not_made(gallery: Gallery) -> None:
    before = sorted(gallery.baselines.rglob("*"))
    with pytest.raises(AssertionError, match="door: there is no"):
        gallery.check("door", drawn())
    assert sorted(gallery.baselines.rglob("*")) == before
    assert left_behind(gallery) == {"door.actual.png"}


def test_no_pictures_at_all_fail(tmp_path: Path, program: Path) -> None:
    with pytest.raises(AssertionError, match="chromium-156"):
        visited(tmp_path, program, 156).check("wall", drawn())


def test_only_renewing_changes_what_is_kept(gallery: Gallery) -> None:
    gallery.renew = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gallery.check("wall", drawn())  # nothing to renew, nothing said
    with pytest.warns(Renewed, match=r"wall\.webp"):
        gallery.check("wall", drawn(move=4))
    gallery.renew = False
    gallery.check("wall", drawn(move=4))


def test_pictures_of_no_page_are_noticed(gallery: Gallery) -> None:
    assert gallery.strangers({"wall"}) == set()
    assert gallery.strangers({"door"}) == {"wall.webp"}


# another browser


@pytest.mark.parametrize(("major", "system"), [(157, "linux"), (155, "linux"), (156, "darwin")])
def test_another_browser_is_held_to_the_newest_pictures_and_says_so(
    gallery: Gallery, program: Path, major: int, system: str
) -> None:
    (gallery.baselines / "chromium-99").mkdir()
    other = visited(gallery.baselines.parent, program, major, system)
    with pytest.warns(OtherBrowser, match=rf"Chromium {major} on {system} .* compared with chromium-156"):
        other.check("wall", drawn((400, 302)))
    with pytest.warns(OtherBrowser):
        other.check("wall", drawn(move=1))
    assert left_behind(other) == set()


@pytest.mark.filterwarnings("ignore::tests.looks.gallery.OtherBrowser")
def test_another_browser_may_not_lose_or_move_much(gallery: Gallery, program: Path) -> None:
    other = visited(gallery.baselines.parent, program, 157)
    empty = Image.new("RGB", SIZE, (250, 246, 238))
    for wrong in (empty, drawn(move=8), drawn((400, 310)), drawn((390, 300))):
        with pytest.raises(AssertionError, match="wall: "):
            other.check("wall", wrong)
        assert left_behind(other) == ALL_THREE
    with pytest.raises(AssertionError, match="there is no"):
        other.check("door", drawn())


def test_renewing_for_another_browser_begins_its_own_folder(gallery: Gallery, program: Path) -> None:
    other = visited(gallery.baselines.parent, program, 157, renew=True)
    with pytest.warns(Renewed):
        other.check("wall", drawn(move=8))
    visited(gallery.baselines.parent, program, 157).check("wall", drawn(move=8))
    gallery.check("wall", drawn())


# odiff


def test_odiff_says_when_it_cannot_compare(program: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="odiff ended with"):
        odiff.compare(program, tmp_path / "none.png", tmp_path / "none.png", tmp_path / "diff.png", 0.1)


def test_a_machine_without_odiff_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    with pytest.raises(FileNotFoundError, match="setup-test"):
        odiff.install(tmp_path)
