"""The last stage: read the finished site as a browser and a policy would, and refuse it if it is amiss."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from stages.policy import CSP

LOADS = {
    ("link", "href"),
    ("script", "src"),
    ("img", "src"),
    ("source", "src"),
    ("iframe", "src"),
    ("use", "href"),
}
DATA_BLOCKS = {"application/json", "application/ld+json"}


@dataclass
class Page(HTMLParser):
    """What one page refers to and what it must not contain."""

    path: str
    ids: set[str] = field(default_factory=set)
    links: list[tuple[str, str, str]] = field(default_factory=list)
    policy: str = ""
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = {name: value or "" for name, value in attrs}
        self._read_names(tag, about)
        self._read_policy(tag, about)
        for name, value in about.items():
            if name in ("href", "src", "xlink:href"):
                self.links.append((tag, name, value))

    def _read_names(self, tag: str, about: dict[str, str]) -> None:
        if "id" in about:
            if about["id"] in self.ids:
                self.wrong.append(f"the id {about['id']} stands twice")
            self.ids.add(about["id"])

    def _read_policy(self, tag: str, about: dict[str, str]) -> None:
        if tag == "meta" and about.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = about.get("content", "")
        if tag == "style" or "style" in about:
            self.wrong.append(f"<{tag}> has a style of its own, which the policy forbids")
        if tag == "script" and "src" not in about and about.get("type") not in DATA_BLOCKS:
            self.wrong.append("a script stands in the page, which the policy forbids")
        self.wrong += [
            f"<{tag}> has {name}, which the policy forbids" for name in about if name.startswith("on")
        ]


def check(site: Path) -> None:
    """Raise ValueError that lists all that is wrong with the site in the folder ``site``."""
    pages = {file.relative_to(site).as_posix(): _read(file, site) for file in sorted(site.rglob("*.html"))}
    wrong = [f"{path}: {what}" for path, page in pages.items() for what in _faults(page, pages, site)]
    if wrong:
        raise ValueError("\n".join([f"{len(wrong)} faults in the site:", *wrong]))


def _read(file: Path, site: Path) -> Page:
    page = Page(file.relative_to(site).as_posix())
    page.feed(file.read_text(encoding="utf-8"))
    return page


def _faults(page: Page, pages: dict[str, Page], site: Path) -> list[str]:
    faults = list(page.wrong)
    if page.policy != CSP:
        faults.append("the content security policy is missing or not ours")
    for tag, name, value in page.links:
        fault = _fault(page, pages, site, (tag, name), value)
        if fault:
            faults.append(fault)
    return faults


def _fault(page: Page, pages: dict[str, Page], site: Path, where: tuple[str, str], value: str) -> str:
    """Say what is wrong with one link, or nothing."""
    parts = urlsplit(value)
    if parts.scheme or parts.netloc:
        return f"{value} is loaded from elsewhere" if where in LOADS and parts.scheme != "data" else ""
    if parts.path.startswith("/"):
        return f"{value} is not relative, so the site cannot move"
    target = _resolve(page.path, unquote(parts.path))
    if not (site / target).is_file():
        return f"{value} leads nowhere"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return f"{value}: {target} has no such id"
    return ""


def _resolve(page: str, path: str) -> str:
    """Follow a relative path from a page."""
    if not path:
        return page
    parts: list[str] = []
    for part in [*PurePosixPath(page).parent.parts, *path.split("/")]:
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    found = "/".join(parts)
    return f"{found}/index.html".lstrip("/") if path.endswith(("/", ".")) else found
