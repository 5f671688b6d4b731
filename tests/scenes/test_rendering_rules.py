"""The rules that keep two renderings one, one by one; tests/browser/test_two_renderings.py has the sum."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2 import nodes as jinja_nodes

from scenes import stage
from scenes.render import FOLDER, make_environment, ranges
from scenes.scene import Action, decimal
from tests.scenes.walks import walk

ROOT = Path(__file__).resolve().parents[2]
SIM = sorted((ROOT / "sim").rglob("*.py"))
SCENES = sorted((ROOT / "scenes").rglob("*.py"))
TEMPLATES = sorted([*(FOLDER / "scenes").glob("*.html"), *(FOLDER / "parts").glob("*.html")])
READS_FILES = ROOT / "sim" / "replay.py"
OTHER_CLOCKS = {
    "time", "datetime", "calendar", "locale", "gettext", "secrets", "uuid", "threading", "asyncio", "socket",
    "multiprocessing", "subprocess", "tempfile", "platform", "getpass", "urllib.request", "http",
}  # fmt: skip
FILES = {"os", "io", "pathlib", "shutil", "glob", "sys", "pickle", "sqlite3"}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


# The same bytes whatever the process is like

DIGEST = """
import hashlib
from scenes import stage
from tests.scenes.walks import walk
digest = hashlib.sha256()
for scene in stage.SCENES:
    for seed in range(3):
        for step in walk(scene, seed):
            digest.update(step.answer.text().encode())
print(digest.hexdigest())
"""


def digest(*flags: str, **environment: str) -> str:
    command = [sys.executable, *flags, "-c", DIGEST]
    where = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=ROOT, env=where, check=True, capture_output=True, text=True).stdout


def test_hash_seed_time_zone_language_and_optimisation_change_no_byte():
    usual = digest(PYTHONHASHSEED="0")
    assert len(usual.strip()) == 64
    assert digest(PYTHONHASHSEED="1") == usual
    assert digest(PYTHONHASHSEED="4242", TZ="America/St_Johns", LC_ALL="C", LANG="C") == usual
    assert digest("-OO", PYTHONHASHSEED="77") == usual


def test_nothing_is_kept_between_two_questions():
    steps = [step for scene in stage.SCENES for seed in range(2) for step in walk(scene, seed)]
    questions = [json.dumps({**step.question, "computed": "live"}) for step in steps]
    forwards = [stage.respond(question) for question in questions]
    backwards = [stage.respond(question) for question in reversed(questions)]
    assert forwards == backwards[::-1]
    assert forwards == [step.answer.text() for step in steps]


@pytest.mark.parametrize("scene", stage.SCENES)
def test_the_mark_of_who_computed_is_all_that_differs(scene):
    for step in walk(scene, 5):
        build, live = (stage.answer(scene, step.query, step.action, computed=by) for by in ("build", "live"))
        assert build.html.count('data-computed="build"') == live.html.count('data-computed="live"') == 1
        assert build.html.replace('data-computed="build"', 'data-computed="live"') == live.html
        assert {**vars(build), "html": ""} == {**vars(live), "html": ""}


@pytest.mark.parametrize("scene", stage.SCENES)
def test_the_way_back_is_open_only_where_there_is_one(scene):
    closed, opened = (stage.answer(scene, past=past).html for past in (False, True))
    assert closed != opened
    assert closed.replace(' aria-disabled="true"', "") == opened.replace(' aria-disabled="true"', "")


@pytest.mark.parametrize("scene", stage.SCENES)
def test_prepared_answers_are_those_that_python_gives(scene):
    prepared = dict(stage.frames(scene))
    assert 0 < len(prepared) <= stage.FRAMES_MOST
    for key, answer in prepared.items():
        name, rest = key.split("?", 1)
        query, action = rest.split("!", 1)
        assert (name, answer.scene) == (scene, scene)
        assert answer == stage.answer(scene, query, Action(*action.split("|")), past=True, computed="build")


def test_answers_cross_as_json_with_the_names_agreed():
    text = stage.respond('{"scene":"growth","query":"","action":null,"past":false,"computed":"live"}')
    assert list(json.loads(text)) == ["scene", "query", "address", "html", "quantities"]
    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    with pytest.raises(ValueError, match=r"scene is 'moon', must be one of admission, "):
        stage.respond('{"scene":"moon","query":"","action":null}')


# One environment


def test_there_is_one_environment_and_it_is_strict():
    environment = make_environment()
    assert environment.autoescape is True
    assert environment.undefined is StrictUndefined
    assert (environment.trim_blocks, environment.lstrip_blocks) == (True, True)
    makers = [
        short(path)
        for folder in ("sim", "scenes", "stages", "templates")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if re.search(r"\b(Sandboxed)?Environment\(", path.read_text(encoding="utf-8"))
    ]
    assert makers == ["scenes/render.py"]


def test_what_a_reader_writes_is_escaped():
    html = stage.answer("growth", "step=<b>%26\"'").html
    assert "&lt;b&gt;&amp;&#34;&#39;" in html
    assert "<b>&" not in html


@pytest.mark.parametrize("path", TEMPLATES, ids=short)
def test_templates_trust_nothing_and_style_nothing(path):
    source = path.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape|\sstyle=|<style|<script|\son[a-z]+=\"", source)
    assert not re.search(r"https?:|\.[0-9a-f]{8,}\.", source)
    parsed = make_environment().parse(source)
    filters = {node.name for node in parsed.find_all(jinja_nodes.Filter)}
    assert not filters & {"random", "xmlattr", "tojson", "pprint", "round", "float", "urlize"}


TYPED = {
    "admission.html": {"1"},  # a step of one item
    "batching.html": {"1"},  # a step of one round, and at least one traveller
    "engine-map.html": {"1"},  # a token each, a block more
    "block-table.html": {"1"},  # the first page
    "quiz.html": {"13"},  # of the name OPT-13B
}
"""Digits that may stand in a template's own words: those that no rule could change."""


@pytest.mark.parametrize("path", TEMPLATES, ids=short)
def test_no_figure_is_typed_into_a_template(path):
    """Digits in the words of a template, outside tags; in its texts between quotes as well."""
    parsed = make_environment().parse(path.read_text(encoding="utf-8"))
    words = "".join(node.data for node in parsed.find_all(jinja_nodes.TemplateData))
    words = re.sub(r"\s[\w:-]+=\"[^\"]*\"", " ", re.sub(r"<(/?[\w-]+|!)", " ", words))
    words = re.sub(r"[a-zA-Z]+[0-9]+", " ", words)
    quoted = [node.value for node in parsed.find_all(jinja_nodes.Const) if isinstance(node.value, str)]
    spoken = [text for text in [words, *quoted] if re.search("[\u4e00-\u9fff]", text)]
    found = {figure for text in spoken for figure in re.findall(r"[0-9]+(?:\.[0-9]+)?%?", text)}
    assert found == TYPED.get(path.name, set())


# Figures and drawn parts


def odd(value: Any, where: str) -> Iterator[str]:
    """Everything in a view that has no order, or no exact text."""
    if isinstance(value, (set, frozenset, float, complex)):
        yield f"{where} is a {type(value).__name__}"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from odd(inner, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from odd(inner, f"{where}[{place}]")
    elif is_dataclass(value):
        for one in fields(value):
            yield from odd(getattr(value, one.name), f"{where}.{one.name}")
    elif not isinstance(value, (str, int, Fraction, type(None))):
        yield f"{where} is a {type(value).__name__}"


@pytest.mark.parametrize("scene", stage.SCENES)
def test_a_view_holds_only_what_is_ordered_and_exact(scene):
    rules = stage.find(scene)
    for seed in range(4):
        for step in walk(scene, seed):
            view = rules.view(rules.read(step.answer.query)[0])
            assert list(odd(view.parts, "parts")) == []
            assert all(type(text) is str for text in view.quantities.values())


@given(st.fractions(max_denominator=500), st.integers(0, 4))
def test_decimals_are_exact_with_halves_up(value, places):
    text = decimal(value, places)
    assert re.fullmatch(rf"-?[0-9]+\.[0-9]{{{places}}}" if places else "-?[0-9]+", text)
    assert 2 * abs(Fraction(text) - value) <= Fraction(1, 10**places)
    assert text.lstrip("-0.") or not text.startswith("-")


def test_the_halves():
    assert [decimal(Fraction(n, 8), 2) for n in (1, 3, -1, 16)] == ["0.13", "0.38", "-0.13", "2.00"]
    assert [decimal(Fraction(n, 6), 2) for n in (34, 25, 42)] == ["5.67", "4.17", "7.00"]
    assert decimal(Fraction(-1, 1000), 2) == "0.00"


@given(st.sets(st.integers(1, 60)).map(tuple))
def test_ranges_name_every_locker_once(numbers):
    found: list[int] = []
    for run in filter(None, ranges(numbers).split("、")):
        first, _, last = run.partition("–")
        found += range(int(first), int(last or first) + 1)
    assert found == sorted(numbers)
    assert ranges((9, 1, 2, 3, 4)) == "1–4、9"


# The sources


@pytest.mark.parametrize("path", [*SIM, *SCENES], ids=short)
def test_nothing_is_validated_by_assert(path):
    assert [node.lineno for node in ast.walk(tree(path)) if isinstance(node, ast.Assert)] == []


@pytest.mark.parametrize("path", SIM, ids=short)
def test_the_rules_import_the_standard_library_and_each_other(path):
    for name in imported(path):
        top = name.split(".")[0]
        assert top == "sim" or top in sys.stdlib_module_names, name


@pytest.mark.parametrize("path", [*SIM, *SCENES], ids=short)
def test_there_is_no_clock_no_language_and_no_outside(path):
    assert not imported(path) & OTHER_CLOCKS
    assert not any(name.startswith(("http.", "asyncio.", "multiprocessing.")) for name in imported(path))


@pytest.mark.parametrize("path", SIM, ids=short)
def test_only_the_replay_reads_files(path):
    named = {node.id for node in ast.walk(tree(path)) if isinstance(node, ast.Name)}
    touches = imported(path) & FILES | named & {"open", "input", "print", "exec", "eval", "__import__"}
    assert path == READS_FILES or not touches


@pytest.mark.parametrize("path", [*SIM, *SCENES], ids=short)
def test_chance_comes_from_a_seed(path):
    """Of the module random only a generator of one's own is used, and made from something."""
    module = tree(path)
    whole = any(isinstance(node, ast.Import) and node.names[0].name == "random" for node in ast.walk(module))
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            assert {name.name for name in node.names} <= {"Random"}
        if whole and isinstance(node, ast.Attribute) and ast.unparse(node.value) == "random":
            assert node.attr == "Random"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("random.Random", "Random"):
            assert node.args


@pytest.mark.parametrize("path", [*SIM, *SCENES], ids=short)
def test_no_unordered_set_is_walked(path):
    """Where a set is written down and walked at once; what is left the hash seeds find."""

    def is_set(node: ast.expr) -> bool:
        made = isinstance(node, ast.Call) and ast.unparse(node.func) in ("set", "frozenset")
        return made or isinstance(node, (ast.Set, ast.SetComp))

    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.For, ast.comprehension)):
            assert not is_set(node.iter), f"line {node.iter.lineno}"
        if isinstance(node, ast.Call):
            walks = ast.unparse(node.func).split(".")[-1] in ("list", "tuple", "join", "enumerate")
            assert not (walks and any(map(is_set, node.args))), f"line {node.lineno}"


@pytest.mark.parametrize("path", SCENES, ids=short)
def test_scenes_print_no_number_by_repr(path):
    """`round`, `repr` and the presentation types of floats would write what two Pythons write apart."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in ("round", "repr", "format"), f"line {node.lineno}"
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            assert ast.unparse(node.format_spec).strip("f'\"")[-1] not in "eEfFgGn%", f"line {node.lineno}"
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            assert not isinstance(node.op, ast.Div), f"line {node.lineno}: a true division"


@pytest.mark.parametrize("path", [*SIM, *SCENES], ids=short)
def test_wording_lives_in_the_templates(path):
    """No Han character; of the punctuation only what joins locker numbers in `scenes.render.ranges`."""
    source = path.read_text(encoding="utf-8")
    assert not re.search("[\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]", source)
    assert set(re.findall("[\u3000-\u303f]", source)) <= ({"、"} if path.name == "render.py" else set())
