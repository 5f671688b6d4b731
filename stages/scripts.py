"""Stage 4: the scripts, each in one file with all that it imports, so that a page waits for one answer.

Sources and what comes from npm are bundled by esbuild, the build of it that is the same on every machine.
Left apart are the modules that are asked for on the way, and Pyodide's own large one, which stays as its
makers publish it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from stages.cache import Cache, digest

FIRST = "early.js"
"""No module: it goes out as it is."""
ENTRIES = ("app.mjs", "worker.mjs", "python.mjs")
LARGE = "pyodide.asm.mjs"
APART = ("python.mjs", LARGE)
VENDOR = {
    "pyodide.mjs": "pyodide/pyodide.mjs",
    "pyodide.asm.mjs": "pyodide/pyodide.asm.mjs",
    "idiomorph.mjs": "idiomorph/dist/idiomorph.esm.js",
}
OPTIONS = (
    "--bundle",
    "--format=esm",
    "--target=es2022",
    "--minify",
    "--charset=utf8",
    "--log-level=error",
    "--out-extension:.js=.mjs",
    *(f"--external:./{name}" for name in APART),
    "--external:node:*",  # of Pyodide, where it runs in Node
    "--external:ws",
)


def make_scripts(root: Path, written: dict[str, str], cache: Cache) -> dict[str, bytes]:
    """Return the scripts of the site by name; ``written`` are modules that the build writes, by name.

    Raises RuntimeError with what esbuild said about an import that leads nowhere or a script it cannot read.
    """
    esbuild = root / "node_modules" / "esbuild-wasm"
    vendor = {name: root / "node_modules" / file for name, file in VENDOR.items()}
    own = root / "site" / "app"
    texts = [f"{name}\n{text}" for name, text in sorted(written.items())]
    key = digest(Path(__file__), esbuild / "package.json", own, *vendor.values(), *texts)

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as sources:
            shutil.copytree(own, sources, dirs_exist_ok=True)
            for name, file in vendor.items():
                shutil.copy(file, Path(sources) / name)
            for name, text in written.items():
                (Path(sources) / name).write_text(text, encoding="utf-8")
            _bundle(esbuild / "bin" / "esbuild", Path(sources), folder)

    folder = cache.get("scripts", key, make)
    files = [*(folder / name for name in ENTRIES), own / FIRST, vendor[LARGE]]
    return {file.name: file.read_bytes() for file in files}


def _bundle(esbuild: Path, sources: Path, folder: Path) -> None:
    command = ["node", str(esbuild), *ENTRIES, f"--outdir={folder}", *OPTIONS]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"esbuild failed:\n{done.stderr or done.stdout}")
