"""Stage 1: the wheels that go to the browser: our own packages, and what they import, all of pure Python."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from stages.cache import Cache, digest

PACKAGES = ("sim", "scenes", "templates")
DATE = (1980, 1, 1, 0, 0, 0)


def make_wheels(root: Path, cache: Cache) -> list[Path]:
    """Return our wheel and those of jinja2 and markupsafe, in the order in which they are installed.

    The same sources give the same bytes. What was downloaded for the browser is read from ``.cache/wheels``.
    """
    downloads = root / ".cache" / "wheels"
    jinja, markup = only(downloads, "jinja2"), only(downloads, "markupsafe")
    sources = [root / name for name in PACKAGES]
    key = digest(Path(__file__), root / "pyproject.toml", *sources, jinja, markup)

    def make(folder: Path) -> None:
        next(WheelBuilder(str(root)).build(directory=str(folder), versions=["standard"]))
        repack_pure(markup, folder)
        (folder / jinja.name).write_bytes(jinja.read_bytes())

    return sorted(cache.get("wheels", key, make).glob("*.whl"))


def only(folder: Path, name: str) -> Path:
    """Return the one wheel of a package. Raises FileNotFoundError when there is none or more than one."""
    found = sorted(folder.glob(f"{name}-*.whl"))
    if len(found) != 1:
        raise FileNotFoundError(
            f"{folder} has {len(found)} wheels of {name}, must have one: run `make setup` again"
        )
    return found[0]


def repack_pure(wheel: Path, folder: Path) -> Path:
    """Write a wheel again without its compiled files, for packages that fall back to Python by themselves."""
    name, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as old:
        files = {
            n: old.read(n) for n in old.namelist() if not n.endswith((".so", ".pyd", ".c", "/", "/RECORD"))
        }
    info = f"{name}-{version}.dist-info"
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: stages.wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    target = folder / f"{name}-{version}-py3-none-any.whl"
    _write(target, files)
    return target


def _record(files: dict[str, bytes], own: str) -> bytes:
    """List every file with its hash and size, as a wheel must."""
    lines = []
    for name, data in sorted(files.items()):
        sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={sha},{len(data)}")
    return "\n".join([*lines, f"{own},,", ""]).encode()


def _write(target: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            new.writestr(info, data, compresslevel=9)


def unpack(wheels: list[Path], folder: Path) -> None:
    """Lay the wheels out as an installer would."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder)
