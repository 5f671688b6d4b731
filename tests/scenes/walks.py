"""Random walks: a reader who presses whatever there is, types nonsense, and follows odd links.

A scene keeps nothing between two questions, so a walk is a list of questions, and any failure is one
question that can be asked alone: its text in the message is all that is needed to see it again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from scenes import fields, stage
from scenes.scene import Action
from scenes.stage import Answer
from tests.scenes.fragment import Control, Element, controls, parse

LONG = 8
"""Actions in one walk."""

NONSENSE = (
    "", " ", "abc", "-1", "0", "1.5", "-0", "+3", " 7 ", "07", "1e3", "1e999", "-1e999", "9" * 20, "٣", "５",
    "²", "½", "NaN", "inf", "0x10", "1_000", "None", "null", "true", "friday", "A", "fcfs,skip", "<b>",
    "&amp;", '"', "'", "{{ 7 * 7 }}", "{% raw %}", "%s", "%41", "\x00", "\t5", "5\n", "\u200b", "\u202e",
    "🧳", "é", "a" * 5000, "9" * 5000,
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One question and its answer."""

    scene: str
    query: str
    action: Action | None
    past: bool

    @property
    def question(self) -> dict[str, object]:
        """The question as the page asks it."""
        action = None if self.action is None else dict(vars(self.action))
        return {"scene": self.scene, "query": self.query, "action": action, "past": self.past}

    @property
    def answer(self) -> Answer:
        """What Python answers."""
        return answered(self.scene, self.query, self.action, self.past)

    def __str__(self) -> str:
        return json.dumps(self.question)


@lru_cache(maxsize=2_000)
def answered(scene: str, query: str, action: Action | None, past: bool) -> Answer:
    """Ask through the door that the page uses."""
    return stage.answer(scene, query, action, past)


@lru_cache(maxsize=100)
def seen(html: str) -> Element:
    """The fragment as a tree."""
    return parse(html)


def any_action(offered: list[Control], chance: random.Random) -> Action:
    """Mostly what stands there, sometimes a value that does not, rarely an action that does not."""
    control = chance.choice(offered)
    value = chance.choice(control.values)
    arg = control.arg
    dice = chance.random()
    if dice < 0.1 or (control.free and dice < 0.3):
        value = chance.choice(NONSENSE)
    elif dice < 0.13 and arg:
        arg = chance.choice(NONSENSE)
    elif dice < 0.15:
        return Action(chance.choice(("reset", "jump", "", "__class__", *NONSENSE)), arg, value)
    return Action(control.action, arg, value)


def any_address(scene: str, chance: random.Random) -> str:
    """Mostly what could be the scene's, with odd values, repeated keys and foreign ones."""
    usual = fields.pairs(answered(scene, "", None, False).query)
    parts = [f"{key}={_any_value(text, chance)}" for key, text in usual.items() if chance.random() < 0.7]
    if chance.random() < 0.3:
        parts.append(f"{chance.choice(list(usual))}={_any_value('1', chance)}")
    if chance.random() < 0.2:
        parts.append(chance.choice(("utm=1", "", "=", "&&", "lock", "%", "%zz=%zz", "a.b=c", "theme=dark")))
    chance.shuffle(parts)
    return "&".join(parts)


def _any_value(text: str, chance: random.Random) -> str:
    dice = chance.random()
    if dice < 0.2:
        return quote(chance.choice(NONSENSE), safe=chance.choice(("", ",", ", +<>")))
    if dice < 0.4:
        return str(chance.randint(-3, 200))
    if dice < 0.8:
        return ",".join(str(chance.randint(-1, 17)) for _ in range(chance.randint(0, 40)))
    items = text.split(",")
    items[chance.randrange(len(items))] = chance.choice(NONSENSE[:20])
    return ",".join(items)


def walk(scene: str, seed: int, long: int = LONG) -> Iterator[Step]:
    """Questions of one reader; each goes on from the answer before."""
    chance = random.Random(f"{scene} {seed}")
    step = Step(scene, any_address(scene, chance) if chance.random() < 0.5 else "", None, False)
    yield step
    for number in range(long):
        action = any_action(controls(seen(step.answer.html)), chance)
        step = Step(scene, step.answer.query, action, number % 5 != 0)
        yield step
