"""The gallery: pictures of the pages as they should look, and what happens when one looks otherwise.

The pictures are kept losslessly, in one folder for each major version of Chromium, as every version draws a
little differently. Equal pixels pass. Otherwise odiff decides: at most 0.1 % of the pixels may differ. A
picture that is not there fails; none is ever made but by the command that renews them (see test_pictures.py).

A Chromium of which there are no pictures at all is held to those of the newest that there is: looked at from
further away (an eighth of the size), with more tolerance. It still sees a part that is missing, moved or
unstyled; and each such test says so with a warning.
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from tests.looks import odiff

FOLDER = re.compile(r"chromium-([0-9]+)")
Colour = tuple[int, int, int]
PARTS = ("expected", "actual", "diff")
NOWHERE: Colour = (255, 0, 255)
"""A colour that no page has: what one of two pictures of different sizes lacks."""


class OtherBrowser(UserWarning):
    """Pictures were held to those of another browser."""


class Renewed(UserWarning):
    """A picture was renewed."""


@dataclass(frozen=True)
class Tolerance:
    """What may differ: a pixel's colour by ``threshold`` (0 to 1), ``share`` percent of the pixels, the
    height by ``height`` percent; looked at from ``distance`` times as far."""

    threshold: float
    share: float
    height: float
    distance: int

    def __str__(self) -> str:
        away = f" at 1/{self.distance} of the size" if self.distance > 1 else ""
        return f"{self.share} % of the pixels{away}, each by {self.threshold}"


OWN = Tolerance(threshold=0.1, share=0.1, height=0, distance=1)
"""For pictures of this very version of the browser."""
ANOTHER = Tolerance(threshold=0.15, share=2, height=1, distance=8)
"""For pictures of another version: text that sits a pixel lower passes, a scene that is gone does not."""


@dataclass
class Gallery:
    """The pictures in ``baselines`` for Chromium ``major``; what differs goes into ``results``."""

    baselines: Path
    results: Path
    program: Path
    major: int
    system: str = sys.platform
    renew: bool = False
    folder: Path = field(init=False)
    tolerance: Tolerance = field(init=False)

    def __post_init__(self) -> None:
        self.own = self.baselines / f"chromium-{self.major}"
        known = self.baselines.glob("chromium-*") if self.baselines.is_dir() else []
        versions = sorted(int(found[1]) for one in known if (found := FOLDER.fullmatch(one.name)))
        exact = self.renew or self.major in versions or not versions
        self.folder = self.own if exact else self.baselines / f"chromium-{versions[-1]}"
        # Other systems draw letters by other means.
        self.tolerance = OWN if exact and self.system == "linux" else ANOTHER

    def check(self, name: str, actual: Image.Image) -> None:
        """Compare a picture with the one of this name, or renew that; AssertionError tells what differs."""
        if self.renew:
            self._renew(name, actual)
            return
        path = self.folder / f"{name}.webp"
        self._forget(name)
        if not path.is_file():
            self._show(name, "actual", actual)
            raise AssertionError(f"{name}: there is no {path}; see the top of tests/looks/test_pictures.py")
        if self.tolerance is ANOTHER:
            warnings.warn(
                f"Chromium {self.major} on {self.system} has no pictures of its own: "
                f"compared with {self.folder.name}, allowing {self.tolerance}",
                OtherBrowser,
                stacklevel=2,
            )
        with Image.open(path) as kept:
            self.compare(name, kept.convert("RGB"), actual)

    def strangers(self, names: set[str]) -> set[str]:
        """Return what lies in the folder and is no picture of these names."""
        wanted = {f"{name}.webp" for name in names}
        return {one.name for one in self.folder.iterdir()} - wanted if self.folder.is_dir() else set()

    def compare(self, name: str, expected: Image.Image, actual: Image.Image) -> None:
        """Compare two pictures. Raises AssertionError for what differs, and leaves both and what differs."""
        if expected.size == actual.size and expected.tobytes() == actual.tobytes():
            return
        size = self._size(expected, actual)
        grounds = _one_size(expected, actual, NOWHERE if size else None)
        wrong = [size, self._pixels(name, *grounds)]
        if any(wrong):
            self._show(name, "expected", expected)
            self._show(name, "actual", actual)
            raise AssertionError(f"{name}: {'; '.join(filter(None, wrong))}; see {self.results}")
        self._forget(name)

    def _size(self, expected: Image.Image, actual: Image.Image) -> str:
        taller = 100 * abs(expected.height - actual.height) / expected.height
        if expected.width == actual.width and taller <= self.tolerance.height:
            return ""
        return f"is {actual.width} x {actual.height}, must be {expected.width} x {expected.height} pixels"

    def _pixels(self, name: str, expected: Image.Image, actual: Image.Image) -> str:
        share = self._share(name, expected, actual)
        if share <= self.tolerance.share:
            return ""
        return f"{share:.2f} % of the pixels differ; allowed: {self.tolerance}"

    def _share(self, name: str, expected: Image.Image, actual: Image.Image) -> float:
        """Measure how many percent of the pixels differ; odiff's drawing of them is left behind."""
        before, after, drawn = (self._path(name, part) for part in PARTS)
        for picture, path in ((expected, before), (actual, after)):
            path.parent.mkdir(parents=True, exist_ok=True)
            picture.reduce(self.tolerance.distance).save(path, compress_level=1)
        pixels = odiff.compare(self.program, before, after, drawn, self.tolerance.threshold)
        return 100 * pixels * self.tolerance.distance**2 / (expected.width * expected.height)

    def _renew(self, name: str, actual: Image.Image) -> None:
        """Keep a picture, unless the very same is kept."""
        path = self.own / f"{name}.webp"
        if path.is_file():
            with Image.open(path) as kept:
                if kept.size == actual.size and kept.convert("RGB").tobytes() == actual.tobytes():
                    return
        path.parent.mkdir(parents=True, exist_ok=True)
        actual.save(path, lossless=True, quality=100, method=4)
        warnings.warn(f"renewed {path}", Renewed, stacklevel=3)

    def _show(self, name: str, part: str, picture: Image.Image) -> None:
        path = self._path(name, part)
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path)

    def _forget(self, name: str) -> None:
        for part in PARTS:
            self._path(name, part).unlink(missing_ok=True)

    def _path(self, name: str, part: str) -> Path:
        return self.results / f"{name}.{part}.png"


def _one_size(one: Image.Image, other: Image.Image, colour: Colour | None) -> list[Image.Image]:
    """Lay pictures on grounds of one size, of a colour or of that of their own last corner."""
    size = (max(one.width, other.width), max(one.height, other.height))
    grounds = []
    for picture in (one, other):
        ground = Image.new("RGB", size, colour or picture.getpixel((0, picture.height - 1)))
        ground.paste(picture)
        grounds.append(ground)
    return grounds
