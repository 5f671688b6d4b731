"""Replay recordings of the real vLLM scheduler: `python -m sim.replay FILE...`

Per file one line: `NAME: N steps identical`, or the first difference with its step, field, expected and got
value, or why the file cannot be used. Exit status 0 if all are identical, 1 if one differs, 2 if one is
missing or malformed.

A recording is JSON, format 1, and explains itself in its `readme`. Every field that states a decision is
compared; the ones that describe the recording (scenario, note, seed, source, readme) are not. This is the one
module of `sim` that reads files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from sim.checks import in_range, number_in_range, yes_or_no
from sim.engine import EngineConfig, Scheduler
from sim.policy import Request, Step

IDENTICAL, DIFFERENT, UNUSABLE = 0, 1, 2

MOST = 1_000_000  # of anything a recording counts: keeps a malformed file from eating the machine
MOST_BYTES = 64 * 1024 * 1024
WIDE = 120  # characters of a value that are shown
ABSENT = object()  # a field that is not there

Record = dict[str, Any]


class Malformed(ValueError):  # noqa: N818 (the file is, the program is not)
    """A recording that cannot be used, and why."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the engine decided otherwise; `step` is a step number, "config" or "end"."""

    step: int | str
    field: str
    expected: object
    got: object

    def __str__(self) -> str:
        expected, got = _excerpts(_text(self.expected), _text(self.got))
        return f"step {self.step}, field {self.field}, expected {expected}, got {got}"


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that is well formed."""

    config: EngineConfig
    header: Record  # what else the file states about its configuration
    requests: tuple[Request, ...]
    arrivals: dict[int, tuple[str, ...]]
    aborts: dict[int, tuple[str, ...]]
    steps: tuple[Record, ...]
    compact: bool
    ending: Record  # stalled and totals


# Reading


def read(path: Path) -> Recording:
    """The recording in a file; Malformed if it is missing, too large, no JSON or not of this form."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Malformed(f"larger than {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Malformed(f"cannot be read: {(error.strerror or 'unknown reason').lower()}") from None
    except UnicodeDecodeError:
        raise Malformed("is not UTF-8 text") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"is not JSON: {error}") from None
    return parse(data)


def parse(data: object) -> Recording:
    """The recording in decoded JSON; Malformed if it is not of this form."""
    try:
        return _parse(_object("the file", data, _TOP))
    except Malformed:
        raise
    except ValueError as error:
        raise Malformed(str(error)) from None


def _parse(top: Record) -> Recording:
    if top["format"] != 1:
        raise Malformed(f"format must be 1, got {_text(top['format'])}")
    config, header = _config(_object("config", top["config"], _CONFIG))
    header["scheduler"] = _object("source", top["source"], _SOURCE)["scheduler"]
    rows = [
        _object(f"requests[{at}]", row, _REQUEST, _REQUEST_MAY)
        for at, row in _items("requests", top["requests"])
    ]
    requests = tuple(_request(at, row) for at, row in enumerate(rows))
    ids = [request.id for request in requests]
    if len(set(ids)) < len(ids):
        raise Malformed("two requests have the same id")
    compact, steps = _steps(_items("steps", top["steps"]))
    totals = _object("totals", top["totals"], _TOTALS)
    ending = {f"totals.{name}": in_range(f"totals.{name}", totals[name], 0, MOST) for name in _TOTALS}
    ending["stalled"] = yes_or_no("stalled", top["stalled"])
    arrivals = _by_step(ids, rows, "arrival_step")
    aborts = _by_step(ids, rows, "abort_step")
    return Recording(config, header, requests, arrivals, aborts, steps, compact, ending)


def _config(row: Record) -> tuple[EngineConfig, Record]:
    header = {"watermark_blocks": in_range("config.watermark_blocks", row.pop("watermark_blocks"), 0, MOST)}
    for name, value in row.items():
        if isinstance(value, int):
            in_range(name, int(value), 0, MOST)
    return EngineConfig(**row), header


def _request(position: int, row: Record) -> Request:
    where = f"requests[{position}]"
    in_range(f"{where}.arrival_step", row["arrival_step"], 0, MOST)
    if "abort_step" in row:
        in_range(f"{where}.abort_step", row["abort_step"], 0, MOST)
    return Request(
        id=_name(f"{where}.id", row["id"]),
        prompt=_prompt(f"{where}.prompt", row["prompt"]),
        max_tokens=in_range(f"{where}.max_tokens", row["max_tokens"], 1, MOST),
        arrival=number_in_range(f"{where}.arrival_time", row["arrival_time"], 0, 1e12),
        priority=in_range(f"{where}.priority", row["priority"], -MOST, MOST),
        stop_after=in_range(f"{where}.stop_after", row["stop_after"], 1, MOST)
        if "stop_after" in row
        else None,
        answer_start=500_000_000 + 100_000 * position,
    )


def _prompt(where: str, runs: object) -> Sequence[int]:
    """The token ids of a prompt: for each [start, n] the n numbers from start on."""
    ranges = []
    for at, run in _items(where, runs):
        pair = _list(f"{where}[{at}]", run, 2)
        start = in_range(f"{where}[{at}] start", pair[0], 0, 10**15)
        ranges.append(range(start, start + in_range(f"{where}[{at}] length", pair[1], 1, 1_000_000)))
    if sum(map(len, ranges)) > 1_000_000:
        raise Malformed(f"{where} is longer than 1000000 tokens")
    return ranges[0] if len(ranges) == 1 else tuple(token for part in ranges for token in part)


def _by_step(ids: list[str], rows: list[Record], field: str) -> dict[int, tuple[str, ...]]:
    """Step number -> the ids with that number in `field`, in the order of the file."""
    found: dict[int, list[str]] = {}
    for request_id, row in zip(ids, rows, strict=True):
        if field in row:
            found.setdefault(row[field], []).append(request_id)
    return {number: tuple(names) for number, names in found.items()}


def _steps(rows: Iterator[tuple[int, object]]) -> tuple[bool, tuple[Record, ...]]:
    """(whether the steps are of the compact kind, the steps); every field is of its type, numbers ascend."""
    steps: list[Record] = []
    last = -1
    compact = False
    for at, row in rows:
        where = f"steps[{at}]"
        if not isinstance(row, dict):
            raise Malformed(f"{where} must be an object, got {_text(row)}")
        compact = "num_running" in row if at == 0 else compact
        step = _object(where, row, _STEP + (_COMPACT if compact else _FULL), _STEP_MAY)
        for field, value in step.items():
            if not _FITS[_TYPES[field]](value):
                raise Malformed(f"{where}.{field} must be {_TYPES[field]}, got {_short(_text(value))}")
        if not last < step["step"] <= MOST:
            raise Malformed(f"{where}.step must be above {last} and at most {MOST}, got {step['step']}")
        last = step["step"]
        steps.append(step)
    if not steps:
        raise Malformed("steps is empty")
    return compact, tuple(steps)


def _object(where: str, value: object, must: tuple[str, ...], may: tuple[str, ...] = ()) -> Record:
    """A copy of a JSON object that has every key of `must` and no other than these and those of `may`."""
    if not isinstance(value, dict):
        raise Malformed(f"{where} must be an object, got {_short(_text(value))}")
    for name in must:
        if name not in value:
            raise Malformed(f"{where} has no {name}")
    for name in value:
        if name not in must and name not in may:
            raise Malformed(f"{where} has an unknown field {_short(_text(name))}")
    return dict(value)


def _list(where: str, value: object, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise Malformed(
            f"{where} must be a list{'' if length is None else f' of {length}'}, got {_short(_text(value))}"
        )
    return value


def _items(where: str, value: object) -> Iterator[tuple[int, Any]]:
    found = _list(where, value)
    if not found:
        raise Malformed(f"{where} is empty")
    return enumerate(found)


def _name(where: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Malformed(f"{where} must be a text that is not empty, got {_short(_text(value))}")
    return value


# The form of a recording

_TOP = (
    "format",
    "scenario",
    "note",
    "seed",
    "source",
    "readme",
    "config",
    "stalled",
    "totals",
    "requests",
    "steps",
)
_SOURCE = ("engine", "version", "commit", "scheduler")
_TOTALS = ("steps", "preemptions", "tokens", "cached_tokens", "finished")
_REQUEST = ("id", "arrival_step", "arrival_time", "priority", "prompt", "max_tokens")
_REQUEST_MAY = ("abort_step", "stop_after")
_CONFIG = (
    "block_size",
    "num_blocks",
    "max_num_seqs",
    "max_num_batched_tokens",
    "max_model_len",
    "enable_prefix_caching",
    "enable_chunked_prefill",
    "long_prefill_token_threshold",
    "policy",
    "watermark",
    "reserve_full_isl",
    "async_scheduling",
    "watermark_blocks",
)
_STEP = ("step", "arrived", "finished", "free_after", "digest")
_FULL = ("running_after", "waiting_after", "free_queue", "hashed_free")
_COMPACT = ("num_running", "num_waiting")
_PLANNED = ("scheduled", "tokens", "admitted", "resumed", "preempted", "free_after_schedule")
_STEP_MAY = (
    "aborted",
    "cached_hashes",
    *_PLANNED,
    "num_scheduled",
    "running_before",
    "waiting_before",
    "tables",
    "sampled",
)

_COUNT, _NAMES, _IDS, _TEXT = "a whole number", "a list of texts", "a list of whole numbers", "a text"
_PAIRS, _TRIPLES = "a list of [text, whole number]", "a list of [text, whole number, ...]"
_TABLES = "an object of lists of whole numbers"
_TYPES = {
    **dict.fromkeys(
        ("step", "tokens", "num_scheduled", "num_running", "num_waiting", "cached_hashes"), _COUNT
    ),
    **dict.fromkeys(("free_after", "free_after_schedule"), _COUNT),
    **dict.fromkeys(("arrived", "aborted", "running_before", "waiting_before", "preempted"), _NAMES),
    **dict.fromkeys(("finished", "sampled", "running_after", "waiting_after"), _NAMES),
    **dict.fromkeys(("admitted", "resumed"), _PAIRS),
    **dict.fromkeys(("free_queue", "hashed_free"), _IDS),
    "scheduled": _TRIPLES,
    "tables": _TABLES,
    "digest": _TEXT,
}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_row(value: object, lengths: tuple[int, ...]) -> bool:
    return (
        isinstance(value, list)
        and len(value) in lengths
        and isinstance(value[0], str)
        and all(map(_is_count, value[1:]))
    )


_FITS: dict[str, Callable[[Any], bool]] = {
    _COUNT: _is_count,
    _TEXT: lambda value: isinstance(value, str),
    _NAMES: lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
    _IDS: lambda value: isinstance(value, list) and all(map(_is_count, value)),
    _PAIRS: lambda value: isinstance(value, list) and all(_is_row(row, (2,)) for row in value),
    _TRIPLES: lambda value: isinstance(value, list) and all(_is_row(row, (2, 3)) for row in value),
    _TABLES: lambda value: isinstance(value, dict) and all(map(_FITS[_IDS], value.values())),
}


# Replaying


def replay(recording: Recording) -> Difference | None:
    """Run the engine on the recorded requests; the first difference, or None if there is none."""
    return next(differences(recording), None)


def differences(recording: Recording) -> Iterator[Difference]:
    """Every difference, in order: the configuration, each step, the end."""
    engine = Scheduler(recording.config)
    scheduler = "AsyncScheduler" if recording.config.async_scheduling else "Scheduler"
    header = {"watermark_blocks": recording.config.watermark_blocks, "scheduler": scheduler}
    yield from _compare("config", recording.header, header)
    player = _Player(engine, recording)
    for recorded in recording.steps:
        for number in range(engine.number, recorded["step"]):
            player.advance()
            if player.busy:
                yield Difference(number, "step", ABSENT, number)
        yield from _compare(recorded["step"], recorded, player.advance())
    yield from _compare("end", recording.ending, player.ending(len(recording.steps)))


def _compare(step: int | str, expected: Record, got: Record) -> Iterator[Difference]:
    """Differences between two records, in the order in which the engine came to the fields."""
    for field in [*got, *(name for name in expected if name not in got)]:
        if expected.get(field, ABSENT) != got.get(field, ABSENT):
            yield Difference(step, field, expected.get(field, ABSENT), got.get(field, ABSENT))


class _Player:
    """Feeds an engine the requests of a recording and describes each step as the recorder did."""

    def __init__(self, engine: Scheduler, recording: Recording) -> None:
        self.engine = engine
        self.recording = recording
        self.busy = False  # whether the last step had anything to do
        self._requests = {request.id: request for request in recording.requests}
        self._totals = dict.fromkeys(_TOTALS, 0)

    def advance(self) -> Record:
        """Play one step; what it would look like in a recording."""
        engine = self.engine
        record: Record = {"step": engine.number, "arrived": list(self._arrive())}
        aborted = self._abort()
        if aborted:
            record["aborted"] = aborted
        self.busy = engine.busy
        before = {"running_before": list(engine.running), "waiting_before": list(engine.waiting)}
        engine.schedule()
        planned = {"free_after_schedule": engine.memory.pool.free_count}
        tables = {name: list(table) for name, table in engine.tables.items()}
        step = engine.update()
        self._count(step)
        if step.planned:
            record |= self._planned(step, before, planned, tables)
        record |= self._answered(step)
        return record

    def ending(self, recorded: int) -> Record:
        """The totals after the last step; `stalled`: somebody is still alive."""
        totals = {f"totals.{name}": value for name, value in (self._totals | {"steps": recorded}).items()}
        return {**totals, "stalled": self.engine.busy}

    def _arrive(self) -> tuple[str, ...]:
        names = self.recording.arrivals.get(self.engine.number, ())
        for name in names:
            self.engine.add(self._requests[name])
        return names

    def _abort(self) -> list[str]:
        names = self.recording.aborts.get(self.engine.number, ())
        return [name for name in names if self.engine.abort(name)]

    def _count(self, step: Step) -> None:
        self._totals["preemptions"] += len(step.preempted)
        self._totals["tokens"] += step.tokens
        self._totals["cached_tokens"] += sum(admitted.cached for admitted in step.admitted + step.resumed)
        self._totals["finished"] += len(step.finished)

    def _planned(self, step: Step, before: Record, planned: Record, tables: Record) -> Record:
        """The fields that schedule() decides."""
        fields: Record = {
            "scheduled": [list(entry) for entry in step.scheduled],
            "tokens": step.tokens,
            "admitted": [list(entry) for entry in step.admitted],
            "resumed": [list(entry) for entry in step.resumed],
            "preempted": list(step.preempted),
            **planned,
        }
        if not self.recording.compact:
            return {**before, **fields, "tables": tables}
        fields["scheduled"] = [[entry.id, entry.tokens] for entry in step.scheduled if entry.tokens > 1]
        return {**fields, "num_scheduled": len(step.scheduled)}

    def _answered(self, step: Step) -> Record:
        """The fields that are known when the step is over."""
        engine, pool = self.engine, self.engine.memory.pool
        fields: Record = {"finished": list(step.finished), "free_after": pool.free_count}
        if self.recording.compact:
            fields |= {"num_running": len(engine.running), "num_waiting": len(engine.waiting)}
        else:
            fields |= {"sampled": list(step.sampled)} if step.answered else {}
            fields |= {"running_after": list(engine.running), "waiting_after": list(engine.waiting)}
            free = pool.free_ids()
            hashed = [block for block in free if pool.prefix_of(block) is not None]
            fields |= {"free_queue": list(free), "hashed_free": hashed}
        if self.recording.config.enable_prefix_caching:
            fields["cached_hashes"] = pool.cached_hashes
        return {**fields, "digest": digest(engine, step)}


def digest(engine: Scheduler, step: Step) -> str:
    """The fingerprint of a step and the state after it, as the recordings' readme defines it."""
    scheduled = ",".join(f"{name}/{tokens}/{computed}" for name, tokens, computed in step.scheduled)
    tables = ";".join(f"{name}={_joined(table.blocks)}" for name, table in engine.tables.items())
    running, waiting = ",".join(engine.running), ",".join(engine.waiting)
    text = f"S:{scheduled}|R:{running}|W:{waiting}|B:{tables}|F:{_joined(engine.memory.pool.free_ids())}"
    return sha256(text.encode()).hexdigest()[:16]


def _joined(blocks: tuple[int, ...]) -> str:
    return ",".join(map(str, blocks))


# Words


def _text(value: object) -> str:
    return "nothing" if value is ABSENT else json.dumps(value)


def _short(text: str) -> str:
    return text if len(text) <= WIDE else f"{text[:WIDE]}..."


def _excerpts(first: str, second: str) -> tuple[str, str]:
    """Both texts; if one is long, both cut to the surroundings of the first character that differs."""
    if max(len(first), len(second)) <= WIDE:
        return first, second
    pairs = enumerate(zip(first, second, strict=False))
    start = next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))
    return _around(first, start), _around(second, start)


def _around(text: str, start: int) -> str:
    begin = max(0, start - WIDE // 3)
    end = begin + WIDE
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"


# The command


def verdict(path: Path) -> tuple[int, str]:
    """(exit status, line) of one file."""
    try:
        recording = read(path)
        difference = replay(recording)
    except Malformed as problem:
        return UNUSABLE, f"{path.stem}: {_one_line(str(problem))}"
    except ValueError as problem:  # requests the engine refuses
        return UNUSABLE, f"{path.stem}: {_one_line(str(problem))}"
    if difference is not None:
        return DIFFERENT, f"{path.stem}: {_one_line(str(difference))}"
    return IDENTICAL, f"{path.stem}: {len(recording.steps)} steps identical"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def main(names: Sequence[str]) -> int:
    """Print one line per file; the worst exit status of all."""
    if not names:
        print("usage: python -m sim.replay FILE...", file=sys.stderr)
        return UNUSABLE
    worst = IDENTICAL
    for name in names:
        status, line = verdict(Path(name))
        print(line, flush=True)
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
