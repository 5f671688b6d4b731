"""Stage 5: everything that pages load, in ``assets/`` under names that carry a hash of the content.

Scripts and styles name each other by plain relative names, as in the sources; here those names are
replaced by the hashed ones, leaves first, so that a change anywhere changes every name that depends on it.
A name that leads nowhere stops the build.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

SCRIPT = re.compile(
    r"""(?P<before>\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\(\s*)(?P<quote>["'])\./(?P<name>[\w./-]+)(?P=quote)"""
)
STYLE = re.compile(
    r"""(?P<before>\burl\(\s*|@import\s+)(?P<quote>["']?)(?:\.{0,2}/)*(?P<name>(?!data:)[\w./-]+)(?P=quote)"""
)
SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)
PATTERNS = {".mjs": SCRIPT, ".js": SCRIPT, ".css": STYLE}


class Assets:
    """The assets of a site by their plain names, which are unique whatever folder they come from."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}
        self._doing: list[str] = []
        self.files: dict[str, bytes] = {}
        self.urls: dict[str, str] = {}

    def add(self, name: str, data: bytes) -> None:
        """Take a file in. Raises ValueError for a name that is there already."""
        if name in self._waiting or name in self.urls:
            raise ValueError(f"two assets are called {name}")
        self._waiting[name] = data

    def add_tree(self, folder: Path) -> None:
        """Take all files of a folder in."""
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.name.endswith((".d.mts", ".md")):
                self.add(file.name, file.read_bytes())

    def url(self, name: str) -> str:
        """Return the hashed name, relative to ``assets/``, naming first all that the file refers to."""
        if name not in self.urls:
            self._name(name)
        return self.urls[name]

    def finish(self) -> dict[str, str]:
        """Name everything; return plain names with their addresses relative to the site."""
        for name in sorted(self._waiting):
            self.url(name)
        return {name: f"assets/{url}" for name, url in sorted(self.urls.items())}

    def write(self, folder: Path) -> None:
        """Write the files, and no others, into ``folder``."""
        folder.mkdir(parents=True)
        for name, data in self.files.items():
            (folder / name).write_bytes(data)

    def integrity(self, name: str) -> str:
        """Return the hash that a page states for a script."""
        return "sha384-" + base64.b64encode(hashlib.sha384(self.files[self.url(name)]).digest()).decode()

    def _name(self, name: str) -> None:
        if name not in self._waiting:
            raise ValueError(f"{' -> '.join([*self._doing, name])}: there is no such asset")
        if name in self._doing:
            raise ValueError(f"{' -> '.join([*self._doing, name])}: assets refer to each other in a circle")
        self._doing.append(name)
        data = self._resolved(name)
        self._doing.pop()
        self.urls[name] = _hashed(name, data)
        self.files[self.urls[name]] = data

    def _resolved(self, name: str) -> bytes:
        """Replace the names in a script or style by the hashed ones."""
        data = self._waiting[name]
        pattern = PATTERNS.get(Path(name).suffix)
        if pattern is None:
            return data

        def replace(match: re.Match[str]) -> str:
            dot = "./" if pattern is SCRIPT or match["before"].startswith("@import") else ""
            return (
                f"{match['before']}{match['quote']}{dot}{self.url(Path(match['name']).name)}{match['quote']}"
            )

        return pattern.sub(replace, SOURCE_MAP.sub("", data.decode())).encode()


def _hashed(name: str, data: bytes) -> str:
    """Put the hash before the suffix: ``app.mjs`` -> ``app.0123456789ab.mjs``."""
    suffix = "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix
    return f"{name.removesuffix(suffix)}.{hashlib.sha256(data).hexdigest()[:12]}{suffix}"
