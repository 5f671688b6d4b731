"""The README's worked example of a scene works as it is printed: it answers, builds, and passes its tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

README = ROOT / "README.md"
NAMED = re.compile(r"`([a-z/_-]+/[a-z_]*more[-_]windows\.[a-z]+)`.*?\n```\w+\n(.*?)```", re.DOTALL)
LEFT = (".git", ".venv", "dist", "node_modules", "test-results", "__pycache__", "baselines", "traces")
"""What a copy of the house does without, or shares with this one."""


def printed() -> dict[str, str]:
    """Give the files of the example by their places."""
    return dict(NAMED.findall(README.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def house(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the house, once it is built so that its caches are warm, and put the example into the copy."""
    copy = tmp_path_factory.mktemp("example") / "house"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT), symlinks=True)
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    for place, text in printed().items():
        (copy / place).write_text(text, encoding="utf-8")
    return copy


def run(house: Path, *command: str) -> str:
    """Run Python in the copied house, and let it succeed."""
    environment = {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run(
        [sys.executable, *command], cwd=house, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_example_is_a_scene_a_template_and_a_test() -> None:
    assert sorted(printed()) == [
        "scenes/more_windows.py",
        "templates/scenes/more-windows.html",
        "tests/scenes/test_more_windows.py",
    ]


def test_the_example_builds(house: Path) -> None:
    run(house, "build.py")
    page = (house / "dist" / "embed" / "more-windows.html").read_text(encoding="utf-8")
    assert 'data-state="windows=3"' in page
    assert '<b data-quantity="rounds">6</b>' in page
    assert 'href="../index.html"' in page  # the lesson does not show it yet
    assert 'href="../index.html#growth"' in (house / "dist" / "embed" / "growth.html").read_text("utf-8")


def test_the_example_passes_every_test_that_goes_over_scenes(house: Path) -> None:
    chosen = "more-windows or more_windows"
    said = run(house, "-m", "pytest", "-n0", "-m", "not slow", "-k", chosen, "tests/scenes")
    assert int(re.findall(r"([0-9]+) passed", said)[-1]) > 15
    assert "failed" not in said
