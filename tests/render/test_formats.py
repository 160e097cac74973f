"""What holds for every format and every diagnosis."""

import json
import re
import subprocess
import sys
from typing import Any

import jsonschema
import pytest

from analyzer.render import FORMATS, render
from analyzer.render.text import terminal
from analyzer.resources import resource
from tests.render.documents import ALL, document, load, long_line

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
Json = Any


@pytest.fixture(params=ALL)
def diagnosis(request: pytest.FixtureRequest) -> Json:
    """Every document in turn."""
    return document(request.param)


def test_document_is_valid(diagnosis: Json) -> None:
    """Every document that the tests use keeps to the contract."""
    jsonschema.validate(diagnosis, json.loads(resource("reports", "diagnosis.schema.json").read_text()))


@pytest.mark.parametrize("kind", FORMATS)
def test_same_bytes(diagnosis: Json, kind: str) -> None:
    """The same document gives the same bytes, and is not changed by rendering."""
    before = json.dumps(diagnosis)
    assert render(diagnosis, kind) == render(json.loads(before), kind)
    assert json.dumps(diagnosis) == before


@pytest.mark.parametrize("kind", ["html", "markdown", "text"])
def test_nothing_invisible(diagnosis: Json, kind: str) -> None:
    """No control or bidirectional character of a run reaches the reader."""
    assert not CONTROL.search(render(diagnosis, kind))


@pytest.mark.parametrize(("kind", "most"), [("html", 1_000_000), ("markdown", 30_000), ("text", 60_000)])
def test_small_whatever_the_run(diagnosis: Json, kind: str, most: int) -> None:
    """No run makes a report that a ticket refuses."""
    assert len(render(diagnosis, kind).encode()) < most


def test_json_is_canonical(diagnosis: Json) -> None:
    """JSON holds the whole document in the order of the contract, whatever the order it came in."""
    text = render(diagnosis, "json")
    assert json.loads(text) == diagnosis
    assert text.endswith("}\n")
    assert render(dict(reversed(diagnosis.items())), "json") == text


def test_json_never_writes_nan() -> None:
    """A number that JSON does not have is refused."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        render(load("r101") | {"confidence": float("nan")}, "json")


def test_json_needs_no_template_engine() -> None:
    """Asking for JSON imports nothing that only HTML needs."""
    code = "import sys, analyzer.render.document; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "r101",
            [
                "FAILED",
                "culprit worker:2",
                "certain",
                "Restart as is?",
                "No",
                "sed -n '90,110p' train.py",
                "worker-2.log:31",
            ],
        ),
        ("r111", ["FAILED", "one of worker:0, worker:1", "likely", "ckpt/ckpt-20", "4 steps lost"]),
        ("r031", ["HEALTHY", "2 of 2"]),
        ("inconclusive", ["INCONCLUSIVE", "not cleared worker:1–3", "What to collect", "Cannot be told yet"]),
        ("unknown", ["FAILED", "What is known", "What differs", "2.21.0 (worker:2)", "core.gz: skipped"]),
    ],
)
def test_text_says(name: str, words: list[str]) -> None:
    """The terminal page has what whoever is on call needs."""
    text = render(load(name), "text")
    assert [word for word in words if word not in text] == []


def test_decision_comes_first() -> None:
    """The decision stands before why, and why before what to do."""
    text = render(load("r101"), "text")
    places = [
        text.index(word) for word in ("FAILED", "Restart as is?", "\nWhy\n", "\nNext\n", "\nEvidence\n")
    ]
    assert places == sorted(places)


def test_colour_only_when_asked() -> None:
    """Colour changes nothing but colour."""
    plain = terminal(load("r101"), colour=False, width=100)
    coloured = terminal(load("r101"), colour=True, width=100)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize("width", [60, 100, 160])
def test_prose_fits_the_terminal(width: int) -> None:
    """No line but a command to paste is wider than the terminal."""
    lines = terminal(load("unknown"), colour=False, width=width).splitlines()
    assert [x for x in lines[1:] if len(x) > width and not x.startswith("       ")] == []


def test_markdown_is_inert() -> None:
    """Outside code, hostile text is neither a tag, a link, an image nor a mention."""
    text = render(load("hostile"), "markdown")
    prose = re.sub(r"(?ms)^ *(`{3,})text$.*?^ *\1$", "", text)
    prose = re.sub(r"\\`", "", prose)
    prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", prose)
    assert "<" not in prose
    assert "@" not in prose
    assert not re.search(r"(?<!\\)\]\(", prose)


def test_cut_is_said() -> None:
    """A page that leaves something out says so."""
    page = render(long_line(), "html")
    assert "long texts are shortened" in page
    assert re.search(r"the longest had 1\d,\d{3},\d{3} characters", page)
    assert "<mark>KeyError</mark>" in page
