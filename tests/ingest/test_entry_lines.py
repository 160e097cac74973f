"""Places in exports of log services are numbered by the lines of the file, where these tell entries apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.ingest.logs.exports import entries_of
from analyzer.ingest.raw_lines import entry_lines, lines_at
from analyzer.pipeline import analyze
from analyzer.verify import lines_to_read, mismatches, quotes

ENTRIES = [
    {"timestamp": f"2026-11-21T01:40:3{n}Z", "textPayload": text}
    for n, text in enumerate(
        ("step 1 loss 0.5", "Traceback (most recent call last):", "KeyError: 'label_17'")
    )
]


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        ("a.json", json.dumps(ENTRIES, indent=1), [2, 6, 10]),
        ("a.json", json.dumps(ENTRIES[::-1], indent=1), [10, 6, 2]),
        ("a.json", json.dumps({"events": ENTRIES}, indent=1), [3, 7, 11]),
        ("a.json", "".join(json.dumps(each) + "\n\n" for each in ENTRIES[::-1]), [5, 3, 1]),
        ("a.json", json.dumps(ENTRIES), []),
        ("a.csv", '@timestamp,@message\n2026-11-21 01:40:38,"step 2\nloss 0.4"\n2026-11-21 01:40:37,step 1\n', [4, 2]),
        ("a.yaml", "textPayload: step 1\ntimestamp: '2026-11-21T01:40:30Z'\n---\ntextPayload: step 2\n", []),
    ],
    ids=["array", "newest first", "events", "an entry a line", "all on one line", "CSV", "YAML"],
)  # fmt: skip
def test_each_entry_has_the_line_where_it_begins(
    name: str, text: str, numbers: list[int], tmp_path: Path
) -> None:
    """The oldest first, as the entries are read; none where several may share a line."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    export = entries_of(path)
    assert export.lines is not None
    assert list(export.numbers) == numbers


@pytest.mark.runs
@pytest.mark.parametrize(("indent", "line", "counts"), [(1, 10, None), (None, 3, "entries")])
def test_a_diagnosis_quotes_lines_that_are_found_again(
    indent: int | None, line: int, counts: str | None, tmp_path: Path
) -> None:
    """By their numbers in the file, or else by those of entries; `--verify` looks up the same."""
    (tmp_path / "worker-1.json").write_text(json.dumps(ENTRIES, indent=indent), encoding="utf-8")
    document = analyze([tmp_path]).document
    evidence = [place for finding in document["findings"] for place in finding["evidence"]]
    places = {(place["line"], place.get("counts")) for place in evidence if "KeyError" in place["excerpt"]}
    assert places == {(line, counts)}
    quoted = quotes(document)
    assert mismatches(quoted, lines_at(discover([tmp_path]), lines_to_read(quoted))) == []


def test_a_plain_log_has_no_entries(tmp_path: Path) -> None:
    """Its numbers are those of its lines."""
    (tmp_path / "worker-1.log").write_text("step 1 loss 0.5\n", encoding="utf-8")
    assert entry_lines(discover([tmp_path]), ["worker-1.log", "elsewhere.log"]) == {}
