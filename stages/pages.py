"""Stage 6: the pages, rendered by the same Python and the same templates that run in the reader's browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from markupsafe import Markup, escape

from scenes import stage
from scenes.render import make_environment
from sim import station
from stages.policy import CSP
from stages.scripts import FIRST

SCRIPT = "app.mjs"
"""The script that does all else."""
STYLE = "lesson.css"
"""How it looks."""


@dataclass(frozen=True)
class Site:
    """What pages know of the rest of the site: addresses of assets, hashes of scripts, what to load first."""

    assets: Mapping[str, str]
    integrity: Mapping[str, str] = field(default_factory=dict)
    fonts: tuple[str, ...] = ()


class AnyAsset(dict[str, str]):
    """Addresses for drafts, of which only the text is read."""

    def __missing__(self, key: str) -> str:
        return key


@cache
def shown(name: str) -> stage.Answer:
    """Answer for a scene as it stands before the reader does anything."""
    return stage.answer(name, computed="build")


def scene(name: str) -> Markup:
    """Give a template the fragment of a scene."""
    return Markup(shown(name).html)


def figure(name: str, quantity: str) -> str:
    """Give a template one figure of a scene. Raises KeyError for one that the scene does not have."""
    return shown(name).quantities[quantity]


def head(site: Site, root: str) -> Markup:
    """Give a template what every page's head begins with: the policy, the first fonts, styles, and scripts.

    The order counts. Python comes first. A font that is there for the first layout saves a search for
    others, character by character, and a second layout. The styles come before the script that is not
    ``async``, so that the page is complete (``DOMContentLoaded``) only when it has them: browsers look for
    forms then, and would else lay all of it out bare.
    """
    lines = [f'<meta http-equiv="Content-Security-Policy" content="{escape(CSP)}">']
    lines.append(_script(site, root, FIRST, " crossorigin"))
    for name in site.fonts:
        address = escape(root + site.assets[name])
        lines.append(f'<link rel="preload" href="{address}" as="font" type="font/woff2" crossorigin>')
    lines.append(f'<link rel="stylesheet" href="{escape(root + site.assets[STYLE])}">')
    lines.append(_script(site, root, SCRIPT, ' type="module"'))
    return Markup("\n".join(lines))


def _script(site: Site, root: str, name: str, kind: str) -> str:
    return f'<script{kind} src="{escape(root + site.assets[name])}"{_integrity(site, name)}></script>'


def _integrity(site: Site, name: str) -> str:
    return f' integrity="{site.integrity[name]}"' if name in site.integrity else ""


def render_pages(site: Site) -> dict[str, str]:
    """Render every page; return them by their place in the site."""
    lesson = _render("lesson.html", site, "")
    pages = {"index.html": lesson}
    for name in stage.SCENES:
        place = f"#{name}" if f'id="{name}"' in lesson else ""
        pages[f"embed/{name}.html"] = _render("embed.html", site, "../", name, place)
    return pages


def _render(template: str, site: Site, root: str, name: str = "", place: str = "") -> str:
    """Render a page: in its template, ``root`` leads from the page to the folder of the site.

    ``place`` is where in the lesson a scene stands, "" for one that the lesson does not show.
    ``station`` is the module of the lesson's given numbers, so that pages type none of them.
    """
    tools: dict[str, Callable[..., Any]] = {"scene": scene, "figure": figure}
    page = make_environment().get_template(f"pages/{template}")
    return (
        page.render(
            assets=site.assets,
            root=root,
            name=name,
            place=place,
            scenes=stage.SCENES,
            csp=CSP,
            head=head(site, root),
            station=station,
            **tools,
        ).rstrip()
        + "\n"
    )
