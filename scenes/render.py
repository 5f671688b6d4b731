"""The one Jinja environment, used at build in CPython and in the reader's browser in Pyodide."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import templates
from scenes.wall import Cell
from sim import paper, station

FOLDER = Path(templates.__file__).parent
"""Where the templates lie: in the source tree, or in the installed wheel."""


DRAWN = 4096
"""Lockers that are kept as drawn, each well under a kilobyte."""


def ranges(numbers: tuple[int, ...]) -> str:
    """Write locker numbers in ascending runs, "1–4、9": numbers as read in a table for everyone."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return "、".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _drawing(environment: Environment) -> Callable[[Cell], Markup]:
    """Make the function that draws a locker: walls show the same ones again and again, so each is kept."""

    @lru_cache(maxsize=DRAWN)
    def drawn(cell: Cell) -> Markup:
        parts: Any = environment.get_template("parts/cell.html").module
        return Markup(str(parts.cell(cell)).strip())

    return drawn


def make_environment() -> Environment:
    """Make the environment: autoescape, strict undefined, trimmed blocks, templates from ``FOLDER``."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        auto_reload=False,
    )
    environment.filters["ranges"] = ranges
    environment.globals |= {"station": station, "paper": paper, "drawn": _drawing(environment)}
    return environment
