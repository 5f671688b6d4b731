"""The same questions to CPython here and to Python in a real browser: the same answers, byte for byte.

The browser is asked through the site's own worker, and so from its memory image. A scene keeps nothing
between two questions, so random walks are asked as the questions that they consist of. CPython renders as
at build, the browser as live: ``data-computed`` is all that may differ, and it is set equal.
"""

from __future__ import annotations

import difflib
import hashlib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from scenes import stage
from tests.scenes.walks import Step, walk

WALKS = 300
"""Walks of eight actions a scene."""

BEGIN = """async ([address, questions]) => {
  const worker = new Worker(address, { type: "module" });
  const waiting = [];
  worker.onmessage = ({ data }) => {
    if (data.type === "failed") for (const answered of waiting.splice(0)) answered(null);
    if (data.type === "answer") waiting.shift()(JSON.parse(data.text));
    if (data.type === "refused") waiting.shift()(null);
  };
  const hash = async (text) => {
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  globalThis.askPython = (question) => new Promise((answered) => {
    waiting.push(answered);
    worker.postMessage({ type: "ask", text: JSON.stringify(question) });
  });
  const ask = async (question) => {
    const answer = await globalThis.askPython(question);
    return answer && { ...answer, html: await hash(answer.html) };
  };
  globalThis.answers = Promise.all(questions.map(ask));
}"""


def question(step: Step) -> dict[str, Any]:
    return {**step.question, "computed": "live"}


def expected(step: Step) -> dict[str, Any]:
    """CPython's answer, rendered as at build but for the one attribute."""
    answer = stage.answer(step.scene, step.query, step.action, step.past, computed="build")
    before, mark, after = answer.html.partition(' data-computed="build"')
    assert mark
    assert 'data-computed="' not in before + after
    return {**vars(answer), "html": f'{before} data-computed="live"{after}'}


def hashed(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "html": hashlib.sha256(answer["html"].encode()).hexdigest()}


def difference(page: Page, step: Step) -> str:
    """Both whole answers to one question, as lines that differ."""
    found = page.evaluate("(question) => globalThis.askPython(question)", question(step)) or {}
    lines = [[line for key in answer for line in f"{key}: {answer[key]}".splitlines()] for answer in
             (expected(step), found)]  # fmt: skip
    return "\n".join([str(step), *difflib.unified_diff(*lines, "CPython", "browser", n=0, lineterm="")])


@pytest.mark.parametrize("scene", stage.SCENES)
def test_the_browser_answers_as_cpython_does(page: Page, site: Path, scene: str) -> None:
    walks = [walk(scene, seed) for seed in range(WALKS)]
    steps = list(dict.fromkeys(chain.from_iterable(walks)))
    page.goto("embed/growth.html")
    (worker,) = (site / "assets").glob("worker.*.mjs")
    address = f"{page.url.rsplit('/', 2)[0]}/assets/{worker.name}"
    page.evaluate(BEGIN, [address, [question(step) for step in steps]])
    wanted = [hashed(expected(step)) for step in steps]  # while the browser computes too
    found = page.evaluate("() => globalThis.answers")
    assert len(found) == len(steps)
    differing = [step for step, one, other in zip(steps, wanted, found, strict=True) if one != other]
    told = [difference(page, step) for step in differing[:3]]
    assert not differing, f"{len(differing)} of {len(steps)} answers differ\n" + "\n\n".join(told)
