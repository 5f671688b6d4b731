"""Stage 2: the Python of the browser: its library, its image with ours imported, the lock of the plain start.

All of it is made by Pyodide itself, in Node (stages/node). The image can only be trusted with the very module
it was made with, so a tag of both is written into it.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from stages.cache import Cache, digest
from stages.wheel import only, unpack


@dataclass(frozen=True)
class Runtime:
    """The files that start Python: ``tag`` ties the image to the module; sizes are of the files in bytes."""

    wasm: Path
    image: Path
    stdlib: Path
    lock: dict[str, object]
    tag: int
    version: str


def make_runtime(root: Path, wheels: list[Path], cache: Cache) -> Runtime:
    """Make everything that starts Python, out of the npm package pyodide and our wheels."""
    pyodide = root / "node_modules" / "pyodide"
    parts = [
        pyodide / name for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
    ]
    version = str(json.loads((pyodide / "package.json").read_text())["version"])
    about = digest(*parts)
    tag = int(about[:8], 16)
    stdlib = _stdlib(root, about, cache)
    return Runtime(
        wasm=_zipped(pyodide / "pyodide.asm.wasm", cache) / "pyodide.asm.wasm.gz",
        image=_image(root, about, stdlib, wheels, tag, cache),
        stdlib=stdlib,
        lock=_lock(root, about, wheels, cache),
        tag=tag,
        version=version,
    )


def _stdlib(root: Path, about: str, cache: Cache) -> Path:
    key = digest(
        about,
        root / "stages/node/stdlib.mjs",
        root / "stages/node/pyodide.mjs",
        root / "stages/image/stdlib.py",
    )
    return cache.get("stdlib", key, lambda folder: _node("stdlib.mjs", folder / "stdlib.zip")) / "stdlib.zip"


def _lock(root: Path, about: str, wheels: list[Path], cache: Cache) -> dict[str, object]:
    micropip = only(root / ".cache" / "wheels", "micropip")
    scripts = [root / "stages/node/lock.mjs", root / "stages/node/pyodide.mjs", root / "stages/image/lock.py"]
    key = digest(about, micropip, *scripts, *wheels)
    folder = cache.get("lock", key, lambda folder: _node("lock.mjs", folder / "lock.json", micropip, *wheels))
    lock: dict[str, object] = json.loads((folder / "lock.json").read_text())
    return lock


def _image(root: Path, about: str, stdlib: Path, wheels: list[Path], tag: int, cache: Cache) -> Path:
    scripts = [
        root / "stages/node/snapshot.mjs",
        root / "stages/node/pyodide.mjs",
        root / "stages/image/warm.py",
    ]
    key = digest(about, stdlib, *wheels, *scripts, root / "site/app/image.mjs")

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as site:
            unpack(wheels, Path(site))
            _node("snapshot.mjs", folder / "python.image", stdlib, Path(site), str(tag))
        _gzip(folder / "python.image", folder / "python.image.gz")

    return cache.get("image", key, make) / "python.image.gz"


def _zipped(file: Path, cache: Cache) -> Path:
    return cache.get("zipped", digest(file), lambda folder: _gzip(file, folder / f"{file.name}.gz"))


def _gzip(source: Path, target: Path) -> None:
    target.write_bytes(gzip.compress(source.read_bytes(), 9, mtime=0))


def _node(script: str, *arguments: Path | str) -> None:
    """Run one of our scripts in Node. Raises RuntimeError with what it said when it fails."""
    command = ["node", str(Path(__file__).parent / "node" / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [
            line for line in (done.stderr or done.stdout).splitlines() if len(line) < 300
        ]  # less the minified source
        raise RuntimeError("\n".join([f"{script} failed:", *lines[-40:]]))
