"""Thousands of random readers: nothing fails, every range is kept, every fragment keeps the contract.

`walks.py` makes the readers, `contract.py` says what must hold. For most readers only the rules are
asked, without drawing; the slow run draws for many of those too.
"""

from __future__ import annotations

import random
from contextlib import suppress
from functools import lru_cache

import pytest

from scenes import stage
from scenes.scene import Action
from tests.scenes.contract import bad_figures, findings
from tests.scenes.fragment import controls
from tests.scenes.ranges import RANGES
from tests.scenes.walks import NONSENSE, Step, answered, any_address, seen, walk

DRAWN = 24
MANY = 2_000
LONG = 8


def wrong(scene: str, seeds: range) -> list[str]:
    found = []
    for seed in seeds:
        for step in walk(scene, seed):
            found += [f"{step}: {finding}" for finding in findings(step)]
            if scene in RANGES:
                found += [f"{step}: {finding}" for finding in RANGES[scene](step.answer.query)]
    return found


@pytest.mark.parametrize("scene", stage.SCENES)
def test_every_fragment_keeps_the_contract(scene):
    assert wrong(scene, range(DRAWN)) == []


@pytest.mark.slow
@pytest.mark.parametrize("scene", stage.SCENES)
def test_every_fragment_of_a_thousand_readers_keeps_the_contract(scene):
    assert wrong(scene, range(DRAWN, DRAWN + 1_000)) == []


@lru_cache
def vocabulary(scene: str) -> list[Action]:
    """Every action that one of a few drawn readers saw on the page."""
    found = {}
    for seed in range(12):
        for step in walk(scene, seed):
            for control in controls(seen(step.answer.html)):
                for value in control.values:
                    found[Action(control.action, control.arg, value)] = None
    return list(found)


def any_known(scene: str, chance: random.Random) -> Action:
    action = chance.choice(vocabulary(scene))
    dice = chance.random()
    if dice < 0.05:
        return Action(action.name, action.arg, chance.choice(NONSENSE))
    if dice < 0.08:
        return Action(action.name, chance.choice(NONSENSE), action.value)
    return Action("reset") if dice < 0.1 else action


@pytest.mark.parametrize("scene", stage.SCENES)
def test_thousands_of_readers_keep_every_range(scene):
    rules = stage.find(scene)
    judged: set[str] = set()
    found: list[str] = []

    def judge(state, how) -> None:
        query = rules.query(state)
        if query in judged:
            return
        judged.add(query)
        again, notices = rules.read(query)
        addressed, _ = rules.read(rules.address(state))
        if notices or again != addressed or not query == rules.query(again) == rules.query(addressed):
            found.append(f"{how} led to {query!r}, read again as {rules.query(again)!r} with {notices}")
        if scene in RANGES:
            found.extend(f"{how}: {finding}" for finding in RANGES[scene](query))
        found.extend(f"{how}: {finding}" for finding in bad_figures(scene, rules.view(state).quantities))

    for seed in range(MANY):
        chance = random.Random(f"many {scene} {seed}")
        state, _ = rules.read(any_address(scene, chance) if seed % 2 else "")
        judge(state, f"address of {seed}")
        for _ in range(LONG):
            action = any_known(scene, chance)
            before = rules.query(state)
            with suppress(ValueError):
                state, _ = rules.after(state, action)
            judge(state, f"{before} {action}")
    assert found == []


@pytest.mark.parametrize("scene", stage.SCENES)
def test_decimals_are_fixed_for_each_figure(scene):
    decimals: dict[str, set[int]] = {}
    for seed in range(DRAWN):
        for step in walk(scene, seed):
            for name, text in step.answer.quantities.items():
                if text:
                    decimals.setdefault(name, set()).add(len(text.partition(".")[2]))
    assert {name: found for name, found in decimals.items() if len(found) > 1} == {}


def template(scene: str) -> str:
    """The source of a scene's own template."""
    loader = stage.ENVIRONMENT.loader
    assert loader is not None
    return loader.get_source(stage.ENVIRONMENT, f"scenes/{scene}.html")[0]


@pytest.mark.parametrize("scene", stage.SCENES)
def test_what_is_said_to_be_disabled_changes_nothing(scene):
    rules, pressed = stage.find(scene), 0
    for seed in range(DRAWN // 2):
        for step in walk(scene, seed):
            for one in seen(step.answer.html).find(aria_disabled="true"):
                has = one.attributes
                action = Action(has["data-action"], has.get("data-arg", ""), has.get("value", ""))
                if action.name != "back":
                    after, _ = rules.after(rules.read(step.answer.query)[0], action)
                    assert rules.query(after) == step.answer.query, (str(step), action)
                    pressed += 1
    assert pressed or not any(word in template(scene) for word in ("aria-disabled", "player(", "tickets("))


@pytest.mark.parametrize("scene", stage.SCENES)
def test_every_control_does_something_somewhere(scene):
    """No control is for show: somewhere it changes the scene or has something to say."""
    states = [answered(scene, "", None, False).query]
    states += [step.answer.query for seed in range(4) for step in walk(scene, seed)]
    for name in dict.fromkeys(action.name for action in vocabulary(scene)):
        actions = [action for action in vocabulary(scene) if action.name == name]
        pairs = ((query, one) for query in states for one in actions)
        tried = ((Step(scene, query, None, True), Step(scene, query, one, True)) for query, one in pairs)
        assert any(before.answer.html != after.answer.html for before, after in tried), f"{name} is idle"
