"""Pages as the reader meets them: the running texts of a page, each in one piece.

`用了 <b>8</b> 格` is one text, for a missing space beside the tag is seen by the reader too.
Inline elements are joined, everything else parts: blocks, line breaks, form controls, pictures,
each text of a drawing, and white space between two tags (`<b>錯</b> <span>六位</span>` is a label
and its text). An attribute whose value holds a Han character is read or shown sooner or later
(alt, aria-label, title, data-*), so it is a text as well.

What is not Chinese (`<code>`, `<kbd>`, `lang="en"`) is masked: rules for Chinese pass over it,
but the spacing at its borders counts. A masked run begins and ends with FOREIGN (or MASKED_HAN
where a Han character stands there) and is INSIDE between. White space at the border of a `span`
or `small` is GAP: they set a part off (`<span>第 1 題</span> 六位`), where `b` or `a` stand in the
flow of a sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple

FOREIGN, MASKED_HAN, INSIDE, GAP = "\ue000", "\ue001", "\ue002", "\ue003"
HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN = re.compile(f"[{HAN}]")


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


INLINE = _tags(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strong sub sup time"
    " tspan u var wbr"
)
FOREIGN_ELEMENTS = _tags("code kbd math pre samp var")
VOID = _tags("area base br col embed hr img input link meta source track wbr")
SETTING_OFF = _tags("small span")
ADDRESSES = _tags("class href id src style")  # attributes that are no text


class Passage(NamedTuple):
    """A text as shown, the same masked (of the same length), and where it stands."""

    shown: str
    masked: str
    where: str


def plain(text: str, where: str) -> Passage:
    return _passage([_Run(text, text)], where)


def passages(page: str, where: str) -> list[Passage]:
    """The texts of an HTML page or fragment, in order; where is "name:line"."""
    reader = _Reader(where)
    reader.feed(page)
    reader.close()
    reader.part()
    return reader.found


def passages_of_data(value: object, where: str) -> Iterator[Passage]:
    """The texts in JSON data (as `json.loads` gives it): strings with tags are fragments of a page."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from passages_of_data(item, f"{where}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from passages_of_data(item, f"{where}/{index}")
    elif isinstance(value, str) and _HAN.search(value):
        yield from passages(value, where) if "<" in value else [plain(value, where)]


class _Open(NamedTuple):
    tag: str
    foreign: bool


class _Run(NamedTuple):
    shown: str
    masked: str


class _Reader(HTMLParser):
    def __init__(self, where: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Passage] = []
        self._name = where
        self._open: list[_Open] = []
        self._runs: list[_Run] = []
        self._line = 1
        self._ended = False  # the last thing seen was an end tag
        self._between = False  # ... and white space after it
        self._set_off = False  # a span begins or ends here

    def part(self) -> None:
        """End the text that is being gathered."""
        if any(run.shown.strip(_SPACES) for run in self._runs):
            self.found.append(_passage(self._runs, f"{self._name}:{self._line}"))
        self._runs = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in INLINE or self._between:
            self.part()
        self._pass_border(tag, ended=False)
        foreign = self._is_foreign(tag, dict(attrs).get("lang"))
        self._take_attributes(tag, attrs, foreign)
        if tag not in VOID:
            self._open.append(_Open(tag, foreign))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in INLINE:
            self.part()
        self._pass_border(tag, ended=True)
        for index in reversed(range(len(self._open))):
            if self._open[index].tag == tag:
                del self._open[index:]
                return

    def handle_data(self, data: str) -> None:
        around = self._open[-1] if self._open else _Open("", False)
        if around.tag in ("script", "style"):
            self._take_script(data)
            return
        if not self._runs:
            self._line = self.getpos()[0]
        masked = _masked(data) if around.foreign else data
        self._runs.append(_Run(data, _gap_before(masked) if self._set_off else masked))
        self._between = self._ended and not data.strip(_SPACES)
        self._ended = self._set_off = False

    def _pass_border(self, tag: str, ended: bool) -> None:
        if tag in SETTING_OFF:
            self._set_off = True
            if self._runs:
                self._runs[-1] = self._runs[-1]._replace(masked=_gap_after(self._runs[-1].masked))
        self._ended, self._between = ended, False

    def _is_foreign(self, tag: str, language: str | None) -> bool:
        if tag in FOREIGN_ELEMENTS:
            return True
        if language is not None:
            return not language.lower().startswith("zh")
        return bool(self._open) and self._open[-1].foreign

    def _take_attributes(self, tag: str, attrs: list[tuple[str, str | None]], foreign: bool) -> None:
        for name, value in attrs:
            if value and not foreign and name not in ADDRESSES and _HAN.search(value):
                self._take_value(value, f"{self._name}:{self.getpos()[0]} {tag}[{name}]")

    def _take_value(self, value: str, where: str) -> None:
        data = _json(value)
        self.found += [plain(value, where)] if data is None else passages_of_data(data, where)

    def _take_script(self, text: str) -> None:
        if _HAN.search(text):  # data for the script; a script itself holds no wording
            self._take_value(text, f"{self._name}:{self.getpos()[0]} script")


def _json(text: str) -> object | None:
    """The object or list that a text holds as JSON, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value


def _passage(runs: list[_Run], where: str) -> Passage:
    shown = "".join(run.shown for run in runs)
    masked = "".join(run.masked for run in runs)
    # White space in a row is shown as one space; both strings lose the same places.
    kept = [i for i, c in enumerate(shown) if c not in _SPACES or (i > 0 and shown[i - 1] not in _SPACES)]
    shown, masked = (
        "".join(" " if text[i] in _SPACES else text[i] for i in kept) for text in (shown, masked)
    )
    end = len(shown.rstrip(" "))
    return Passage(shown[:end], masked[:end], where)


_SPACES = " \t\n\r\f"


def _masked(text: str) -> str:
    inner = text.strip(_SPACES)
    if not inner:
        return text
    head, tail = text[: text.index(inner)], text[text.index(inner) + len(inner) :]
    ends = [MASKED_HAN if _HAN.match(c) else FOREIGN for c in (inner[0], inner[-1])]
    body = ends[0] if len(inner) == 1 else ends[0] + INSIDE * (len(inner) - 2) + ends[1]
    return head + body + tail


def _gap_before(text: str) -> str:
    rest = text.lstrip(_SPACES)
    return GAP * (len(text) - len(rest)) + rest


def _gap_after(text: str) -> str:
    rest = text.rstrip(_SPACES)
    return rest + GAP * (len(text) - len(rest))
