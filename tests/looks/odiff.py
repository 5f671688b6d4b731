"""Compare two pictures with odiff, which npm installed; it carries a program for every usual machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent.parent / "node_modules" / "odiff-bin" / "raw_binaries"
SYSTEMS = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64", "riscv64": "riscv64"}
SAME, OTHER_SIZE, DIFFERENT = 0, 21, 22
"""How odiff ends."""
PATIENCE = 300
"""Seconds for one comparison, on a machine that is busy."""


def install(folder: Path) -> Path:
    """Copy the program for this machine into ``folder``, where it may be run; return its path.

    (Nothing that npm installs here runs scripts, so odiff's own, which would do this, has not run.)
    Raises FileNotFoundError when there is none.
    """
    system, machine = SYSTEMS.get(platform.system(), "?"), MACHINES.get(platform.machine().lower(), "?")
    source = PROGRAMS / f"odiff-{system}-{machine}{'.exe' if system == 'windows' else ''}"
    if not source.is_file():
        raise FileNotFoundError(f"{source} is not there: run `make setup-test`")
    program = Path(shutil.copy(source, folder / source.name))
    os.chmod(program, 0o755)
    return program


def compare(program: Path, expected: Path, actual: Path, drawn: Path, threshold: float) -> int:
    """Return how many pixels of two pictures of one size differ; if any, draw which into ``drawn``.

    ``threshold`` is how far a pixel's colour may be off, 0 to 1. Raises RuntimeError when odiff cannot
    compare.
    """
    options = ["--parsable-stdout", "--fail-on-layout", "--threshold", str(threshold)]
    command = [*map(str, (program, expected, actual, drawn)), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode == SAME:
        return 0
    if done.returncode != DIFFERENT:
        raise RuntimeError(f"odiff ended with {done.returncode}: {done.stdout}{done.stderr}")
    pixels, _percent = done.stdout.strip().split(";")
    return int(pixels)
