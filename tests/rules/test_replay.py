"""The engine decides as vLLM 0.33 did, and the replay notices when a recording says otherwise."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sim import replay

ROOT = Path(__file__).parents[2]
TRACES = sorted((ROOT / "tests" / "traces").glob("*.json"))
STEPS = 10_203


def load(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "tests" / "traces" / f"{name}.json").read_text(encoding="utf-8"))


def put(folder: Path, data: object, name: str = "altered") -> Path:
    path = folder / f"{name}.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sim.replay", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_there_are_78_recordings_with_all_their_steps():
    assert len(TRACES) == 78
    assert sum(len(load(path.stem)["steps"]) for path in TRACES) == STEPS


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_a_recording_replays_without_a_difference(path):
    steps = len(load(path.stem)["steps"])
    assert replay.verdict(path) == (0, f"{path.stem}: {steps} steps identical")


# Every field is compared: change one, and it is named

FULL, COMPACT, ASYNC, ABORTS = (
    "c_prefix_tight_24",
    "h_large_prefix_400",
    "y_async_prefix_96",
    "x_abort_stop_73",
)


def altered(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}0"
    if isinstance(value, dict):
        return {name: altered(part) for name, part in value.items()} or {"r0": [1]}
    return [*value[:-1], altered(value[-1])] if value else None


def filled_steps() -> list[tuple[str, int, str]]:
    """(recording, position, field): the last step in which each field of each kind is not empty."""
    found = []
    for name in (FULL, COMPACT, ASYNC, ABORTS):
        last = {}
        for position, step in enumerate(load(name)["steps"]):
            last |= {field: position for field, value in step.items() if value or value == 0}
        found += [(name, position, field) for field, position in last.items() if field != "step"]
    return found


@pytest.mark.parametrize(("name", "position", "field"), filled_steps())
def test_a_changed_field_of_a_step_is_named(tmp_path, name, position, field):
    data = load(name)
    step = data["steps"][position]
    step[field] = altered(step[field])
    status, line = replay.verdict(put(tmp_path, data))
    assert status == 1
    assert line.startswith(f"altered: step {step['step']}, field {field}, expected ")
    assert ", got " in line


def test_each_kind_of_field_was_changed():
    fields = {field for _, _, field in filled_steps()}
    recorded = {field for path in TRACES for step in load(path.stem)["steps"] for field in step}
    assert fields == recorded - {"step"}


@pytest.mark.parametrize("field", ["steps", "preemptions", "tokens", "cached_tokens", "finished"])
def test_a_changed_total_is_named(tmp_path, field):
    data = load(FULL)
    data["totals"][field] += 1
    got = data["totals"][field] - 1
    line = f"altered: step end, field totals.{field}, expected {got + 1}, got {got}"
    assert replay.verdict(put(tmp_path, data)) == (1, line)


def test_a_changed_ending_and_header_are_named(tmp_path):
    data = load("x_outgrows_pool")
    data["stalled"] = False
    assert replay.verdict(put(tmp_path, data)) == (
        1,
        "altered: step end, field stalled, expected false, got true",
    )
    data["config"]["watermark_blocks"] = 3
    assert replay.verdict(put(tmp_path, data)) == (
        1,
        "altered: step config, field watermark_blocks, expected 3, got 0",
    )
    data = load(FULL)
    data["source"]["scheduler"] = "AsyncScheduler"
    assert "field scheduler" in replay.verdict(put(tmp_path, data))[1]


def test_a_field_that_should_not_be_there_or_is_missing_is_named(tmp_path):
    data = load(ASYNC)
    data["steps"][0]["sampled"] = []
    line = "altered: step 0, field sampled, expected [], got nothing"
    assert replay.verdict(put(tmp_path, data)) == (1, line)
    data = load(ASYNC)
    del data["steps"][1]["sampled"]
    assert replay.verdict(put(tmp_path, data))[1].startswith(
        "altered: step 1, field sampled, expected nothing, got ["
    )


def test_a_left_out_step_with_something_to_do_is_noticed(tmp_path):
    data = load(FULL)
    gone = data["steps"].pop(5)
    status, line = replay.verdict(put(tmp_path, data))
    assert (status, line) == (
        1,
        f"altered: step {gone['step']}, field step, expected nothing, got {gone['step']}",
    )


def test_the_first_of_several_differences_is_told(tmp_path):
    data = load(FULL)
    for position in (9, 4, 7):
        data["steps"][position]["free_after"] += 1
    assert replay.verdict(put(tmp_path, data))[1].startswith(
        f"altered: step {data['steps'][4]['step']}, field free_after"
    )


def test_long_values_are_cut_around_the_first_difference(tmp_path):
    data = load("a_plenty_1")
    data["steps"][0]["free_queue"][100] = 7
    line = replay.verdict(put(tmp_path, data))[1]
    assert "112, 113, 7, 115" in line
    assert "112, 113, 114, 115" in line
    assert len(line) < 400


# What cannot be used gets one clear line


def broken(change: str) -> dict[str, Any]:
    """A small recording with one thing wrong."""
    data = copy.deepcopy(load("a_plenty_1"))
    exec(change, {"data": data, "step": data["steps"][2], "request": data["requests"][0]})
    return data


MALFORMED = {
    "del data['config']": "the file has no config",
    "data['more'] = 1": 'the file has an unknown field "more"',
    "data['format'] = 2": "format must be 1, got 2",
    "data['config'] = []": "config must be an object, got []",
    "data['config']['block_size'] = 0": "block_size must be at least 1, got 0",
    "data['config']['block_size'] = '4'": "block_size must be a whole number, got '4'",
    "data['config']['num_blocks'] = 10**9": "num_blocks must be from 0 to 1000000, got 1000000000",
    "data['config']['policy'] = 'lifo'": "policy must be one of fcfs, priority, got 'lifo'",
    "data['config']['watermark'] = float('nan')": "watermark must be from 0 to 1, got nan",
    "data['config']['async_scheduling'] = 0": "async_scheduling must be True or False, got 0",
    "data['requests'] = []": "requests is empty",
    "data['requests'][1]['id'] = 'r0'": "two requests have the same id",
    "request['id'] = 7": "requests[0].id must be a text that is not empty, got 7",
    "del request['max_tokens']": "requests[0] has no max_tokens",
    "request['prompt'] = [[1]]": "requests[0].prompt[0] must be a list of 2, got [1]",
    "request['prompt'] = []": "requests[0].prompt is empty",
    "request['prompt'] = [[0, 9**7]]": "requests[0].prompt[0] length must be from 1 to 1000000, got 4782969",
    "request['prompt'] = [[0, 600]]": "prompt of 'r0' must be shorter than max_model_len 512, got 600 tokens",
    "request['arrival_step'] = True": "requests[0].arrival_step must be a whole number, got True",
    "data['steps'] = []": "steps is empty",
    "data['steps'][2] = 3": "steps[2] must be an object, got 3",
    "del step['digest']": "steps[2] has no digest",
    "step['extra'] = 1": 'steps[2] has an unknown field "extra"',
    "step['step'] = 1": "steps[2].step must be above 1 and at most 1000000, got 1",
    "step['tokens'] = '7'": 'steps[2].tokens must be a whole number, got "7"',
    "step['free_after'] = True": "steps[2].free_after must be a whole number, got true",
    "step['free_queue'] = ['1']": 'steps[2].free_queue must be a list of whole numbers, got ["1"]',
    "step['scheduled'] = [1]": "steps[2].scheduled must be a list of [text, whole number, ...], got [1]",
    "step['tables'] = []": "steps[2].tables must be an object of lists of whole numbers, got []",
    "data['totals']['tokens'] = None": "totals.tokens must be a whole number, got None",
    "data['stalled'] = 'no'": "stalled must be True or False, got 'no'",
}


@pytest.mark.parametrize("change", MALFORMED)
def test_a_malformed_recording_gets_one_clear_line(tmp_path, change):
    assert replay.verdict(put(tmp_path, broken(change))) == (2, f"altered: {MALFORMED[change]}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1, 2]", "the file must be an object, got [1, 2]"),
        ("null", "the file must be an object, got null"),
        ('{"format": ' + "9" * 5000 + "}", "is not JSON"),
    ],
)
def test_a_file_that_is_no_recording_gets_one_clear_line(tmp_path, text, reason):
    status, line = replay.verdict(put(tmp_path, text))
    assert status == 2
    assert line.startswith(f"altered: {reason}")
    assert "\n" not in line


def test_missing_binary_and_folder(tmp_path):
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    assert replay.verdict(binary) == (2, "binary: is not UTF-8 text")
    assert replay.verdict(tmp_path / "gone.json") == (2, "gone: cannot be read: no such file or directory")
    assert replay.verdict(tmp_path)[0] == 2
    assert replay.verdict(Path("nul\0byte"))[0] == 2


# The command


def test_the_command_tells_each_file_and_2_wins_over_1(tmp_path):
    data = load("a_plenty_1")
    data["steps"][3]["tokens"] += 1
    good, bad = str(TRACES[0]), str(put(tmp_path, data))
    fine = run(good)
    assert (fine.returncode, fine.stdout, fine.stderr) == (0, "a_plenty_1: 10 steps identical\n", "")
    assert run(good, bad, good).returncode == 1
    worst = run(bad, str(tmp_path / "gone.json"), good)
    assert worst.returncode == 2
    lines = worst.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["altered", "gone", "a_plenty_1"]
    assert worst.stderr == ""


def test_the_command_without_a_file_says_how_to_use_it():
    nothing = run()
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert nothing.stderr == "usage: python -m sim.replay FILE...\n"
