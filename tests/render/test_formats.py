"""What holds for every format and every diagnosis."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from analyzer.model.errors import UsageError
from analyzer.render import FORMATS, decision, render
from analyzer.render.text import terminal
from analyzer.storage.package_files import resource
from tests.render.documents import ALL, document, load, long_line, rendered

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
Json = Any


CONTRACT = json.loads(resource("reports", "diagnosis.schema.json").read_text())


@pytest.fixture(params=ALL)
def name(request: pytest.FixtureRequest) -> str:
    """Name every document in turn."""
    return str(request.param)


@pytest.fixture
def diagnosis(name: str) -> Json:
    """Every document in turn."""
    return document(name)


def test_the_contract_is_a_json_schema() -> None:
    """It keeps to the schema of schemas."""
    jsonschema.Draft202012Validator.check_schema(CONTRACT)


def test_document_is_valid(diagnosis: Json) -> None:
    """Every document that the tests use keeps to the contract."""
    assert list(jsonschema.Draft202012Validator(CONTRACT).iter_errors(diagnosis)) == []


def test_rows_of_the_contract_hold_single_values() -> None:
    """What `ordered` leaves as it is has no keys to be put in order."""
    rows = list(prefix_items(CONTRACT))
    assert len(rows) >= 5
    for row in rows:
        meant = CONTRACT["$defs"][row["$ref"].removeprefix("#/$defs/")] if "$ref" in row else row
        assert not {"properties", "items", "prefixItems"} & meant.keys(), row
        kinds = meant.get("type", "")
        assert not {"object", "array"} & {*([kinds] if isinstance(kinds, str) else kinds)}, row


def prefix_items(schema: Json) -> Iterator[dict[str, Json]]:
    """All schemas of single values in rows, wherever they stand."""
    if isinstance(schema, dict):
        yield from schema.get("prefixItems", ())
        for each in schema.values():
            yield from prefix_items(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from prefix_items(each)


@pytest.mark.parametrize("kind", FORMATS)
def test_same_bytes(name: str, diagnosis: Json, kind: str) -> None:
    """The same document gives the same bytes, and is not changed by rendering."""
    before = json.dumps(diagnosis)
    assert render(diagnosis, kind) == rendered(name, kind)
    assert json.dumps(diagnosis) == before


@pytest.mark.parametrize(
    "kind", ["github", "gitlab", "html", "jira", "junit", "markdown", "sarif", "slack", "text"]
)
def test_nothing_invisible(name: str, kind: str) -> None:
    """No control or bidirectional character of a run reaches the reader."""
    assert not CONTROL.search(rendered(name, kind))


@pytest.mark.parametrize(
    ("kind", "most"),
    [("github", 20_000), ("gitlab", 60_000), ("html", 1_000_000), ("jira", 60_000), ("junit", 100_000),
     ("markdown", 30_000), ("sarif", 300_000), ("slack", 60_000), ("text", 60_000)],
)  # fmt: skip
def test_small_whatever_the_run(name: str, kind: str, most: int) -> None:
    """No run makes a report that a ticket refuses."""
    assert len(rendered(name, kind).encode()) < most


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


@pytest.mark.processes
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
                "strong",
                "Restart as is?",
                "No",
                "sed -n '90,110p' train.py",
                "worker-2.log:31",
            ],
        ),
        ("r111", ["FAILED", "one of worker:0, worker:1", "possible", "ckpt/ckpt-20", "4 steps lost"]),
        ("r031", ["HEALTHY", "2 of 2"]),
        (
            "inconclusive",
            ["INCONCLUSIVE", "not ruled out: worker:1–3", "Unknown (not enough data)"],
        ),
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
    leading_evidence = [
        text.index(word) for word in ("FAILED", "Restart as is?", "\nWhy\n", "\nNext\n", "\nEvidence\n")
    ]
    assert leading_evidence == sorted(leading_evidence)


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
    page = render(long_line(10_000_000), "html")
    assert "long texts are shortened" in page
    assert re.search(r"the longest had 1\d,\d{3},\d{3} characters", page)
    assert "<mark>KeyError</mark>" in page


def section(text: str, title: str) -> str:
    """One section of the terminal page."""
    return text.partition(f"\n{title}\n")[2].partition("\n\n")[0]


def evidence(says: str, worker: str | None = None, line: int | None = None, excerpt: str = "") -> Json:
    """A fact, or a line of a worker's log where a line is given."""
    source = None if line is None else f"{worker}.log"
    kind = "fact" if line is None else "line"
    made = {"says": says, "kind": kind, "worker": worker, "source": source, "line": line, "excerpt": excerpt}
    return made | {"marks": [], "time": None, "context": []}


def with_evidence(*leading_evidence: Json) -> Json:
    """A run whose verdict rests on these places."""
    made = load("r101")
    made["findings"] = [made["findings"][0] | {"evidence": [*leading_evidence]}]
    return made


def test_an_unknown_format_is_refused_by_name() -> None:
    """With those that there are."""
    with pytest.raises(UsageError, match="no format xls; choose from github, gitlab, html"):
        render({}, "xls")


def test_every_fact_is_told() -> None:
    """Two workers with one fact each: both are named, and no name twice."""
    told = with_evidence(
        evidence("worker:0 runs TensorFlow 2.9", "worker:0"),
        evidence("worker:1 runs TensorFlow 2.15", "worker:1"),
        evidence("worker:1 runs TensorFlow 2.15", "worker:1"),
    )
    lines = section(render(told, "text"), "Evidence").splitlines()
    assert lines == ["  worker:0  runs TensorFlow 2.9", "  worker:1  runs TensorFlow 2.15"]
    assert all(word in render(told, "markdown") for word in ("TensorFlow 2.9", "TensorFlow 2.15"))


def test_evidence_says_what_it_shows() -> None:
    """First the meaning, then the words of the file from near the mark on."""
    place = evidence("a peer lost worker:1", "worker:0", 16, "x" * 200 + " task:1 closed")
    place["marks"] = [[201, 207]]
    said, shown = section(render(with_evidence(place), "text"), "Evidence").splitlines()
    assert said == "  worker:0.log:16  a peer lost worker:1"
    assert shown == "      …task:1 closed"


@pytest.mark.parametrize("kind", ["text", "html"])
def test_a_message_that_comes_again_is_told_once(kind: str) -> None:
    """The same words, for the same reason, in the same file."""
    leading_evidence = [
        evidence("says so", "worker:1", line, f"{line}: expected type 9") for line in (12, 28)
    ]
    for place in leading_evidence:
        place["marks"] = [[place["excerpt"].index("expected"), len(place["excerpt"])]]
    page = render(with_evidence(*leading_evidence), kind)
    assert page.partition('id="diagnosis"')[0].count("says so") == 1


def test_context_lines_keep_their_numbers() -> None:
    """Lines that lie further above are not renumbered."""
    place = evidence("says so", "worker:1", 40, "boom") | {"context": [[7, "seven"], [39, "before"]]}
    page = render(with_evidence(place), "html")
    numbers = re.findall(r'<span class="ln">(\d*)</span><span class="lt">(?:<mark>)?(\w+)', page)
    assert numbers == [("7", "seven"), ("39", "before"), ("40", "boom")]


def answers(diagnosis: Json, **action: Any) -> dict[str, str]:
    """Question and answer, with what qualifies it."""
    given = decision.answers(diagnosis | {"action": diagnosis["action"] | action})
    return {a.question: f"{a.answer} ({a.detail})" for a in given}


def test_a_degraded_job_did_not_fail() -> None:
    """So it would not fail again, and no machine is condemned for being slow once."""
    told = load("r101") | {"verdict": "degraded"}
    assert answers(told)["Restart as is?"] == "No (fix the cause first; it would degrade again)"
    slow = answers(told, retry="exclude_host", exclude=["node-0"])
    assert slow["Exclude a machine?"] == "Not yet (only if it happens again: node-0)"
    assert slow["Restart as is?"].startswith("Yes")
    assert "Yes" not in slow["Exclude a machine?"]


def test_a_checkpoint_is_asked_for_only_where_steps_are_lost() -> None:
    """Not by a job that reached its end, nor by one that never made a step."""
    question, told = "From which checkpoint?", load("r101")
    assert answers(told)[question] == "No checkpoint found in the logs (look in your checkpoint directory)"
    for worker in told["workers"]:
        worker["ended"]["how"] = "finished"
    assert answers(told | {"verdict": "degraded"})[question] == "Not needed (the job reached its end)"
    for worker in told["workers"]:
        worker |= {"curves": [], "last_step": {"epoch": 1, "step": 0}}
    assert answers(told)[question] == "Not needed (no step found in the files)"
    unseen = told | {"workers": [worker | {"startup_seen": False} for worker in told["workers"]]}
    assert answers(unseen)[question] == "Unknown (the files show neither a step nor the start-up)"
    nobodys = unseen | {"sources": [source | {"worker": None} for source in told["sources"]]}
    assert answers(nobodys)[question] == "Unknown (the logs do not show which worker wrote which line)"
    assert answers(told, resume_from="ckpt/4")[question].startswith("ckpt/4")


@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_an_unknown_cause_has_no_confidence(kind: str) -> None:
    """Nought per cent of nothing is not worth a word."""
    page = render(load("unknown") | {"cause": "unknown", "confidence": 0.0, "alternatives": []}, kind)
    assert "0 %)" not in page
    assert "possible (" not in page


@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_last_words_are_told(kind: str) -> None:
    """Where nothing is known, they are all that there is."""
    told = load("inconclusive")
    told["last_words"] = [
        evidence("The last lines of worker:1", "worker:1", 5, "bye") | {"context": [[4, "going"]]}
    ]
    page = re.sub(r"<.*?>", "", render(told, kind))
    leading_evidence = [
        page.index(word) for word in ("The last lines of worker:1", "worker:1.log:5", "going", "bye")
    ]
    assert leading_evidence == sorted(leading_evidence)


@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_notes_are_told(kind: str) -> None:
    """A healthy job that ran on the CPU for want of a library."""
    told = load("r031")
    note = {"outcome": "fired", "role": "context", "summary": "No worker has a GPU.", "evidence": []}
    told["findings"].append(told["findings"][0] | note)
    page = render(told, kind)
    assert page.index("Notes") < page.index("No worker has a GPU.")


def test_what_is_lost_comes_before_what_nobody_reads() -> None:
    """Files without a reader are one line, at the end."""
    told = load("unknown")
    foreign = {"read": "skipped", "reason": "no reader for this kind of file"}
    told["sources"] = [told["sources"][0] | {"name": f"{n}.bin"} | foreign for n in range(9)] + told[
        "sources"
    ]
    lines = section(render(told, "text"), "What was not read, or only in part").splitlines()
    assert lines[0].startswith("  - pod-bert-2.log: partial")
    said = (
        "0.bin, 1.bin, 2.bin and 6 more: skipped: no reader for this kind of file; rename a log to NAME.log"
    )
    assert " ".join(" ".join(lines).split()).endswith(f"- {said}")
    assert ">0.bin, 1.bin, 2.bin and 6 more<" in render(told, "html")
