"""Runs inside Pyodide at build: install /wheels with micropip, and return the frozen lock of these alone."""

import json
from pathlib import Path

import micropip

await micropip.install([f"emfs:{wheel}" for wheel in sorted(Path("/wheels").iterdir())], index_urls=[])  # noqa: F704


def ours() -> dict[str, object]:
    """Keep the packages that micropip installed, with plain file names for addresses."""
    lock = json.loads(micropip.freeze())
    kept = {}
    for name, package in sorted(lock["packages"].items()):
        if str(package["file_name"]).startswith("emfs:"):
            kept[name] = {**package, "file_name": package["file_name"].rsplit("/", 1)[1]}
    return {"info": lock["info"], "packages": kept}


json.dumps(ours(), indent=1, sort_keys=True)
