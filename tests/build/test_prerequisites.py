"""What is missing is said in one line, with what to do about it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stages import prerequisites
from stages.prerequisites import Missing

ROOT = Path(__file__).resolve().parents[2]


def program(folder: Path, name: str, says: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho {says}\n")
    file.chmod(0o755)


def test_this_machine_has_everything() -> None:
    prerequisites.check_machine()
    prerequisites.check_build()


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda: prerequisites.check_python((3, 10, 4)), "Python 3.10.4 is too old: Python 3.11"),
        (lambda: prerequisites.check_modules(("no_such_module",)), r"no_such_module.*make setup"),
        (
            lambda: prerequisites.check_packages(Path("/nowhere")),
            r"npm packages are missing \(pyodide.*make setup",
        ),
        (
            lambda: prerequisites.check_wheels(Path("/nowhere")),
            r"wheels for the browser are missing.*make setup",
        ),
    ],
)
def test_what_is_missing_is_named(check: Callable[[], None], said: str) -> None:
    with pytest.raises(Missing, match=said):
        check()


def test_node_and_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Missing, match=r"node is not installed: Node\.js 20"):
        prerequisites.check_node()
    with pytest.raises(Missing, match="npm is not installed"):
        prerequisites.check_npm()
    program(tmp_path, "node", "v18.19.1")
    with pytest.raises(Missing, match=r"node v18\.19\.1 is too old"):
        prerequisites.check_node()
    program(tmp_path, "node", "v20.0.0")
    prerequisites.check_node()


def test_the_command_says_it_on_one_line_and_fails(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path)}
    command = [sys.executable, str(ROOT / "build.py"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "build.py: node is not installed: Node.js 20 or newer is needed.\n"
    assert not (tmp_path / "out").exists()
