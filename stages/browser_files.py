"""Stage 3: what goes to the browser beside the pages: the runtime, prepared answers, the styles."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from scenes import stage
from stages import fonts
from stages.assets import Assets
from stages.cache import Cache
from stages.runtime import Runtime


def add_frames(assets: Assets) -> dict[str, str]:
    """Take in the prepared answers of every scene; return each scene's asset."""
    names = {}
    for scene in stage.SCENES:
        frames = {key: vars(answer) for key, answer in stage.frames(scene)}
        text = json.dumps(frames, ensure_ascii=False, separators=(",", ":"))
        names[scene] = f"frames-{scene}.json.gz"
        assets.add(names[scene], gzip.compress(text.encode(), 9, mtime=0))
    return names


def add_runtime(assets: Assets, runtime: Runtime, wheels: list[Path], frames: dict[str, str]) -> str:
    """Take in all that starts Python; return ``runtime.mjs``, which tells the page's scripts where it is."""
    files = {"wasm": runtime.wasm, "image": runtime.image, "stdlib": runtime.stdlib}
    lines = ["// Written by stages/browser_files.py."]
    for name, file in files.items():
        assets.add(file.name, file.read_bytes())
        lines.append(_address(name, file.name))
    for wheel in wheels:
        assets.add(wheel.name, wheel.read_bytes())
    lines += [
        f"export const sizes = {json.dumps({name: file.stat().st_size for name, file in files.items()})};",
        f"export const tag = {runtime.tag};",
        f"export const version = {json.dumps(runtime.version)};",
        f"export const info = {json.dumps(runtime.lock['info'], sort_keys=True)};",
        f"export const packages = {json.dumps(_packages(assets, runtime.lock), sort_keys=True)};",
        "export const frames = {",
        *(
            f'  {json.dumps(scene)}: new URL("./{name}", import.meta.url).href,'
            for scene, name in frames.items()
        ),
        "};",
    ]
    return "\n".join(lines) + "\n"


def _address(name: str, file: str) -> str:
    return f'export const {name} = new URL("./{file}", import.meta.url).href;'


def _packages(assets: Assets, lock: dict[str, object]) -> dict[str, dict[str, object]]:
    """Name the wheels in the lock by their assets."""
    packages = lock["packages"]
    if not isinstance(packages, dict):
        raise TypeError(f"the lock's packages are {type(packages).__name__}, must be an object")
    return {name: {**about, "file_name": assets.url(about["file_name"])} for name, about in packages.items()}


def add_styles(assets: Assets, root: Path, drafts: Mapping[str, str], cache: Cache) -> tuple[str, ...]:
    """Take in the fonts, cut to the characters of the site, and the styles; return the fonts to load first.

    ``lesson.css`` is the rules for the fonts and then all of site/styles, in the order of their names.
    """
    characters = fonts.characters_of([root / "templates", root / "site"]).union(*drafts.values())
    styles = [file.read_text(encoding="utf-8") for file in sorted((root / "site" / "styles").glob("*.css"))]
    headings = fonts.heading_characters(drafts.values(), "\n".join(styles))
    with tempfile.TemporaryDirectory() as folder:
        made = fonts.build_fonts(
            root / "node_modules", characters, Path(folder), cache.folder / "fonts", headings
        )
        plain = {
            file.name: re.sub(r"\.[0-9a-f]+\.woff2$", ".woff2", file.name) for file in made["files"].values()
        }
        css = made["css"]
        for name, short in plain.items():
            assets.add(short, (Path(folder) / name).read_bytes())
            css = css.replace(name, short)
    assets.add("lesson.css", "\n".join([css, *styles]).encode())
    return tuple(plain[name] for name in made["preload"])
