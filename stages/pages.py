"""Stage 5: the pages, rendered by the same Python and the same templates that run in the reader's browser."""

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

FIRST = "early.js"
"""The script that a page waits for, as it sets Python going."""
SCRIPT = "app.mjs"
"""The script that does all else."""


@dataclass(frozen=True)
class Site:
    """What pages know of the rest of the site: addresses of assets, hashes of scripts, what to load first."""

    assets: Mapping[str, str]
    integrity: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
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
    """Give a template what every page's head begins with: the policy, the scripts, and the first fonts."""
    lines = [f'<meta http-equiv="Content-Security-Policy" content="{escape(CSP)}">']
    for name, kind in ((FIRST, " crossorigin"), (SCRIPT, ' type="module" async')):
        source = escape(root + site.assets[name])
        lines.append(f'<script{kind} src="{source}"{_integrity(site, name)}></script>')
    for name in site.modules:
        address = escape(root + site.assets[name])
        lines.append(f'<link rel="modulepreload" href="{address}"{_integrity(site, name)}>')
    for name in site.fonts:
        address = escape(root + site.assets[name])
        lines.append(f'<link rel="preload" href="{address}" as="font" type="font/woff2" crossorigin>')
    return Markup("\n".join(lines))


def _integrity(site: Site, name: str) -> str:
    return f' integrity="{site.integrity[name]}"' if name in site.integrity else ""


def render_pages(site: Site) -> dict[str, str]:
    """Render every page; return them by their place in the site."""
    pages = {"index.html": _render("lesson.html", site, "")}
    for name in stage.SCENES:
        pages[f"embed/{name}.html"] = _render("embed.html", site, "../", name)
    return pages


def _render(template: str, site: Site, root: str, name: str = "") -> str:
    """Render a page: in its template, ``root`` leads from the page to the folder of the site.

    ``station`` is the module of the lesson's given numbers, so that pages type none of them.
    """
    tools: dict[str, Callable[..., Any]] = {"scene": scene, "figure": figure}
    page = make_environment().get_template(f"pages/{template}")
    return (
        page.render(
            assets=site.assets,
            root=root,
            name=name,
            scenes=stage.SCENES,
            csp=CSP,
            head=head(site, root),
            station=station,
            **tools,
        ).rstrip()
        + "\n"
    )
