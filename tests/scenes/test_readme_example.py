"""The README's worked example of a scene works as it is printed."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest
from jinja2 import ChoiceLoader, DictLoader

from scenes import stage
from scenes.scene import Action

README = Path(__file__).resolve().parents[2] / "README.md"


def block(language: str) -> str:
    """The one code block of a language in the README."""
    (code,) = re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return str(code)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> str:
    """The example's scene, known to the stage for the length of a test."""
    module = types.ModuleType("scenes.more_windows")
    monkeypatch.setitem(sys.modules, "scenes.more_windows", module)  # a dataclass looks its module up
    exec(compile(block("python"), "README.md", "exec"), module.__dict__)
    scene = module.__dict__["SCENE"]
    monkeypatch.setitem(stage.REGISTRY, scene.name, scene)
    template = DictLoader({f"scenes/{scene.name}.html": block("jinja")})
    loader = stage.ENVIRONMENT.loader
    assert loader is not None
    monkeypatch.setattr(stage.ENVIRONMENT, "loader", ChoiceLoader([template, loader]))
    return str(scene.name)


def test_the_example_answers(example: str) -> None:
    first = stage.answer(example)
    assert (first.query, first.address) == ("windows=3", "")
    assert first.quantities == {"rounds": "6", "idle": "2"}
    one = stage.answer(example, first.query, Action("windows", "", "1"))
    assert one.quantities == {"rounds": "16", "idle": "0"}
    assert 'data-state="windows=1"' in one.html
    assert '<b data-quantity="rounds">16</b>' in one.html


def test_the_example_prepares_its_answers(example: str) -> None:
    assert len(list(stage.frames(example))) == 6
