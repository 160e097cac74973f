"""A document that an older or a newer release wrote is rendered in every format."""

import copy
import re
from typing import Any

import pytest

from analyzer.render import FORMATS, render
from tests.render.documents import NAMES, load

Json = Any
NEW = {
    "text": "from the future",
    "n": 7,
    "list": [{"n": 1}, {"excerpt": "no marks"}, {"part": "new"}, [1, [2, None]], "x"],
    "nothing": None,
}


def grown(value: Json) -> Json:
    """The document with keys that nobody knows yet, in every object whose keys are not free."""
    if isinstance(value, list):
        return [grown(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: each if key in {"values", "options"} else grown(each) for key, each in value.items()}
    return {**kept, "of_later": NEW}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_an_old_document_is_rendered(name: str, kind: str) -> None:
    """These were written before there were traces, command lines and checkpoints in it."""
    told = load(name)
    assert "trace" not in told
    assert "command" not in told["made_with"]
    assert render(told, kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_document_of_the_first_day_is_rendered(kind: str) -> None:
    """It had no last words, no recipes, no count of events, nothing that findings lack, no numbered context."""
    told = load("r101")
    for key in ("last_words", "collect", "events_left_out"):
        del told[key]
    for finding in told["findings"]:
        del finding["lacks"]
        for place in finding["evidence"]:
            place["context"] = [text for _, text in place["context"]]
    before = copy.deepcopy(told)
    assert "KeyError" in render(told, kind)
    assert told == before


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_known_yet_is_passed_over(name: str, kind: str) -> None:
    """It stands in the JSON, and changes nothing that is shown."""
    told, old = render(grown(load(name)), kind), render(load(name), kind)
    if kind == "json":
        assert "from the future" in told
    else:
        start = '<script type="application/json"'
        shown = [re.sub("href='data:[^']*'", "", page.partition(start)[0]) for page in (told, old)]
        assert shown[0] == shown[1]


@pytest.mark.parametrize("kind", FORMATS)
def test_an_event_of_a_kind_not_known_yet_is_drawn(kind: str) -> None:
    """As any other."""
    told = load("r101")
    told["timeline"][3] |= {"kind": "teleported", "text": "went elsewhere"}
    page = render(told, kind)
    assert kind not in {"html", "json"} or "went elsewhere" in page
