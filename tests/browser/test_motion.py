"""Motion says where things went: it begins where they were, ends where they are, and may be declined."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.reading import SceneOnPage, until
from tests.conftest import NewContext, ready

GLIDING = """name => {
  const glides = document.getAnimations().filter(({ effect }) => effect.target.dataset.moves);
  const at = (one) => { const { x, y, width, height } = one.getBoundingClientRect();
    return [Math.round(x + width / 2), Math.round(y + height / 2)]; };
  return Object.fromEntries(glides.map((glide) => {
    glide.pause();
    glide.currentTime = 0;
    const from = at(glide.effect.target);
    glide.finish();
    return [glide.effect.target.dataset.moves, [from, at(glide.effect.target)]];
  }));
}"""
PLACES = """() => Object.fromEntries([...document.querySelectorAll("[data-moves]")].map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return [one.dataset.moves, [Math.round(x + width / 2), Math.round(y + height / 2)]]; }))"""
CASES = [
    ("block-table", "", "scatter", {"A-1", "A-2", "A-3", "A-4", "A-5"}),
    ("engine-map", "round=11", "next", {"G", "H"}),
]
Place = tuple[int, int]


def near(one: Place, other: Place) -> bool:
    """Whether two places are the same but for rounding."""
    return abs(one[0] - other[0]) <= 1 and abs(one[1] - other[1]) <= 1


def opened(page: Page, name: str, query: str) -> SceneOnPage:
    """Open a scene by itself, and wait until it has come to rest."""
    page.goto(f"embed/{name}.html?{query}")
    ready(page)
    until(lambda: page.evaluate("document.getAnimations().length"), lambda count: count == 0, page)
    return SceneOnPage(page, name)


@pytest.mark.parametrize(("name", "query", "control", "moved"), CASES)
def test_what_moves_glides_from_its_old_place_to_its_new_one(
    new_context: NewContext, name: str, query: str, control: str, moved: set[str]
) -> None:
    page = new_context(reduced_motion="no-preference").new_page()
    scene = opened(page, name, query)
    before = page.evaluate(PLACES)
    told = "addEventListener('lesson:change', () => { globalThis.glides = (%s)(); }, { once: true })"
    page.evaluate(told % GLIDING)  # in the very moment of the change
    scene.control(control).evaluate("one => one.click()")
    glides = until(lambda: page.evaluate("globalThis.glides ?? null"), bool, page)
    after = page.evaluate(PLACES)
    assert set(glides) == moved
    for one, (start, end) in glides.items():
        assert near(start, before[one])
        assert near(end, after[one])
        assert not near(start, end)


@pytest.mark.parametrize(("name", "query", "control", "moved"), CASES)
@pytest.mark.parametrize("still", ["reduce", "freeze"])
def test_nothing_glides_where_motion_is_not_wanted(
    new_context: NewContext, name: str, query: str, control: str, moved: set[str], still: str
) -> None:
    page = new_context(reduced_motion="reduce" if still == "reduce" else "no-preference").new_page()
    scene = opened(page, name, f"{query}&freeze=1" if still == "freeze" else query)
    before = scene.read().state
    scene.control(control).evaluate("one => one.click()")
    page.wait_for_selector(f"#{name}:not([data-state='{before}'])")
    assert page.evaluate("document.getAnimations().length") == 0
