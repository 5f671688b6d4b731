"""The one door: ``python build.py`` makes the site in dist/, ``python build.py --serve`` shows it too.

wheels -> runtime and image -> prepared answers -> scripts -> fonts -> assets -> pages -> compressed -> check
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from stages import prerequisites

ROOT = Path(__file__).resolve().parent


def build(out: Path, reuse: bool = True) -> None:
    """Make the whole site in the folder ``out``, in place of what was there.

    With ``reuse`` false nothing is taken from earlier builds; the bytes are the same either way.
    """
    from stages import browser_files, check, compress, pages, runtime, scripts, wheel
    from stages.assets import Assets
    from stages.cache import Cache

    cache = Cache(ROOT / ".cache" / "stages", reuse)
    assets = Assets()
    wheels = wheel.make_wheels(ROOT, cache)
    python = runtime.make_runtime(ROOT, wheels, cache)
    frames = browser_files.add_frames(assets)
    runtime_mjs = browser_files.add_runtime(assets, python, wheels, frames)
    for name, script in scripts.make_scripts(ROOT, {"runtime.mjs": runtime_mjs}, cache).items():
        assets.add(name, script)
    for folder in sorted((ROOT / "site").iterdir()):
        if folder.name not in ("app", "styles"):
            assets.add_tree(folder)
    first_fonts = browser_files.add_styles(
        assets, ROOT, pages.render_pages(pages.Site(pages.AnyAsset())), cache
    )
    site = pages.Site(
        assets=assets.finish(),
        integrity={name: assets.integrity(name) for name in assets.urls if name.endswith((".js", ".mjs"))},
        fonts=first_fonts,
    )
    with Replacement(out) as folder:
        assets.write(folder / "assets")
        for name, text in pages.render_pages(site).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        compress.compress(folder, cache)
        check.check(folder)


class Replacement:
    """A folder that takes the place of ``out`` when all went well, and leaves no trace when not."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def __enter__(self) -> Path:
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=f".{self.out.name}-", dir=self.out.parent))
        self.folder.chmod(0o755)
        return self.folder

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            shutil.rmtree(self.out, ignore_errors=True)
            self.folder.rename(self.out)
        shutil.rmtree(self.folder, ignore_errors=True)


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Build the lesson into a folder that any static host can serve."
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the site goes (default: dist)")
    parser.add_argument("--fresh", action="store_true", help="take nothing from earlier builds")
    parser.add_argument(
        "--serve", action="store_true", help="serve the site in the foreground when it is built"
    )
    parser.add_argument("--port", type=int, default=None, help="port to serve on (default: $PORT, or 8000)")
    parser.add_argument(
        "--check-machine", action="store_true", help="only say whether this machine can build"
    )
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    """Build, and serve if asked; return the exit code."""
    options = arguments(given)
    try:
        if options.check_machine:
            prerequisites.check_machine()
            return 0
        prerequisites.check_build()
        build(options.out.resolve(), reuse=not (options.fresh or os.environ.get("BUILD_FRESH")))
    except (prerequisites.Missing, ValueError, RuntimeError, FileNotFoundError) as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    if options.serve:
        from stages.serve import serve

        serve(
            options.out.resolve(),
            options.port if options.port is not None else int(os.environ.get("PORT", "8000")),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
