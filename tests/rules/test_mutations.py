"""Each rule broken once: the recording or test that tests/rules/mutations.py names must notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim import replay
from tests.rules import test_engine_rules
from tests.rules.mutations import MUTATIONS, Mutation

TRACES = Path(__file__).parents[1] / "traces"


def notices(mutation: Mutation) -> bool:
    """Whether the one it names now fails: an exception counts, a broken engine may also break down."""
    try:
        if mutation.noticed.startswith("test:"):
            getattr(test_engine_rules, mutation.noticed.removeprefix("test:"))()
            return False
        return replay.replay(replay.read(TRACES / f"{mutation.noticed}.json")) is not None
    except (AssertionError, LookupError, ValueError, pytest.fail.Exception):
        return True


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.rule)
def test_a_broken_rule_is_noticed(mutation, monkeypatch):
    assert not notices(mutation)
    mutation.apply(monkeypatch)
    assert notices(mutation)


def test_the_table_names_each_rule_once():
    rules = [mutation.rule for mutation in MUTATIONS]
    assert len(rules) == len(set(rules)) > 60


def test_a_mutation_that_no_longer_fits_the_source_is_refused(monkeypatch):
    stale = Mutation("none", test_engine_rules.Scheduler, "_may_admit", "no such text", "", "")
    with pytest.raises(ValueError, match="_may_admit has 0 times 'no such text'"):
        stale.apply(monkeypatch)
