"""What a machine must have before anything is built. Standard library only: it runs on a bare Python."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = (3, 11)
NODE = 20
MODULES = ("jinja2", "markupsafe", "hatchling", "fontTools", "brotli")
NPM_PACKAGES = (
    "pyodide",
    "idiomorph",
    "esbuild-wasm",
    "@fontsource/noto-sans-tc",
    "@fontsource/noto-serif-tc",
)


class Missing(Exception):  # noqa: N818 - it reads as what it says
    """Something that the build needs is not there; the message says what, and what to do."""


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> None:
    """Refuse an interpreter that is too old."""
    if version[:2] < PYTHON:
        found = ".".join(map(str, version))
        raise Missing(
            f"Python {found} is too old: Python 3.11 or newer is needed (make PYTHON=python3.12 …)."
        )


def check_venv() -> None:
    """Refuse a Python that cannot make virtual environments, as Debian's without python3-venv."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise Missing(
            "Python has no venv module: install it (on Debian and Ubuntu: apt-get install python3-venv)."
        )


def check_node() -> None:
    """Refuse a machine without Node, or with one that is too old."""
    node = shutil.which("node")
    if node is None:
        raise Missing("node is not installed: Node.js 20 or newer is needed.")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    found = re.match(r"v(\d+)\.", said)
    if found is None or int(found[1]) < NODE:
        raise Missing(f"node {said or '(it does not start)'} is too old: Node.js 20 or newer is needed.")


def check_npm() -> None:
    """Refuse a machine without npm."""
    if shutil.which("npm") is None:
        raise Missing("npm is not installed: it comes with Node.js 20 or newer.")


def check_modules(names: tuple[str, ...] = MODULES) -> None:
    """Refuse a Python that lacks the packages of requirements.txt."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise Missing(
            f"Python packages are missing ({', '.join(missing)}): run `make setup` and use .venv/bin/python, "
            "or pip install --require-hashes -r requirements.txt."
        )


def check_packages(folder: Path = ROOT / "node_modules") -> None:
    """Refuse a checkout in which the npm packages are not installed."""
    missing = [name for name in NPM_PACKAGES if not (folder / name / "package.json").is_file()]
    if missing:
        raise Missing(f"npm packages are missing ({', '.join(missing)}): run `make setup`.")


def check_wheels(folder: Path = ROOT / ".cache" / "wheels") -> None:
    """Refuse a checkout into which the browser's wheels have not been downloaded."""
    missing = [
        name for name in ("jinja2", "markupsafe", "micropip") if not list(folder.glob(f"{name}-*.whl"))
    ]
    if missing:
        raise Missing(f"wheels for the browser are missing ({', '.join(missing)}): run `make setup`.")


def check_machine() -> None:
    """Check what `make setup` itself needs."""
    for check in (check_python, check_venv, check_node, check_npm):
        check()


def check_build() -> None:
    """Check what the build needs. Raises Missing for the first thing that is not there."""
    check_python()
    check_modules()
    check_node()
    check_packages()
    check_wheels()
