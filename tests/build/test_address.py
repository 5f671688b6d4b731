"""The address functions of the page's script, run by Node on a table of cases."""

import json
import subprocess
from pathlib import Path

import pytest

MODULE = Path(__file__).resolve().parents[2] / "site/app/address.mjs"


def call(function: str, *arguments: object) -> object:
    """Call a function of the module; a list given as {"set": [...]} becomes a Set."""
    script = f"""
        import * as address from {json.dumps(MODULE.as_uri())};
        const given = {json.dumps(arguments)}.map((a) => (a?.set ? new Set(a.set) : a));
        console.log(JSON.stringify(address[{json.dumps(function)}](...given)));
    """
    command = ["node", "--input-type=module", "-e", script]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize(
    ("search", "prefixed", "found"),
    [
        ("", True, ""),
        ("?admission.luggage=8,5&admission.order=skip&batching.round=2&x=1", True, "luggage=8,5&order=skip"),
        ("?admission.luggage=1&admission.luggage=2", True, "luggage=1&luggage=2"),
        ("?luggage=8,5&order=skip&theme=dark&freeze=1&x=1", False, "luggage=8,5&order=skip&x=1"),
        ("?b=", False, "b="),
        ("?admission.luggage=1+2%2C3", True, "luggage=1+2%2C3"),
        ("?admission%2Eluggage=1&%=2&%zz=3", True, "luggage=1"),
        ("?admission-x.a=1&admissions.a=1", True, ""),
    ],
)
def test_a_scene_reads_its_own_keys_as_they_stand(search: str, prefixed: bool, found: str) -> None:
    assert call("read", search, "admission", prefixed) == found


@pytest.mark.parametrize(
    ("search", "prefixed", "query", "written"),
    [
        ("", True, "luggage=8,5", "?admission.luggage=8,5"),
        ("?utm=a+b&admission.luggage=1&x", True, "luggage=2", "?utm=a+b&x&admission.luggage=2"),
        ("?admission.luggage=1&batching.round=1", True, "", "?batching.round=1"),
        ("?luggage=1&theme=dark&utm=1", False, "order=skip", "?theme=dark&utm=1&order=skip"),
        ("?luggage=1", False, "", ""),
    ],
)
def test_writing_replaces_only_what_is_the_scenes(
    search: str, prefixed: bool, query: str, written: str
) -> None:
    known = {"set": ["luggage", "order"]}
    assert call("written", search, "admission", prefixed, query, known) == written


def test_of_a_repeated_option_the_last_one_counts() -> None:
    assert call("option", "?theme=dark&theme=light", "theme") == "light"
    assert call("option", "?themes=dark", "theme") == ""
