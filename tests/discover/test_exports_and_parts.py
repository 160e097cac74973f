"""Files that a log service exported are logs by their first bytes; parts with a date are of one log."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import is_rotated


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("events.yaml", "events:\n- message: 'E0000 00:00:1795224703.000001 7 x.cc:1] it'\n", Kind.LOG),
        (
            "events.yaml",
            "apiVersion: v1\nitems:\n- message: 'E0000 00:00:1795224703.000001 7 x.cc:1] it'\n",
            Kind.PODS,
        ),
        (
            "kube.train",
            'kube.w: [1795224703.0, {"log": "E0000 00:00:1795224703.000001 7 x.cc:1] it"}]\n',
            Kind.LOG,
        ),
        ("ticket.json", '{"body": "our log:\\n2026-11-21 01:40:37.754266: E x.cc:1] it"}\n', Kind.LOG),
        ("ticket.json", '{"body": "our log:\\nnothing is in it"}\n', Kind.OTHER),
        ("notes.enex", '<?xml version="1.0"?>\n<div>Traceback (most recent call last):</div>\n', Kind.LOG),
        ("pom.xml", '<?xml version="1.0"?>\n<project>train</project>\n', Kind.OTHER),
        ("logs", '{"n": 3, "events": [' + '{"timestamp": 1795224703000, "logmsg": "step"},' * 3, Kind.LOG),
        ("metrics", '{"n": 3, "points": [' + '{"timestamp": 1795224703000, "value": 3},' * 3, Kind.OTHER),
    ],
)
def test_lines_in_fields_make_a_log(tmp_path: Path, name: str, text: str, kind: Kind) -> None:
    """Or a text and a time in each entry; what kubectl prints, and metrics, are none."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert [source.kind for source in discover([tmp_path]).sources] == [kind]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("-20261119.gz", "-20261120"),
        (".2026-11-19_23", ".2026-11-20_00"),
        ("-20261119-0400", "-20261119-0500"),
    ],
)
def test_parts_with_a_date_come_before_their_log(older: str, newer: str, tmp_path: Path) -> None:
    """As logrotate's `dateext` and Python's handlers name them, the oldest first; the date is no index."""
    for name in ("train.log", f"train.log{newer}", f"train.log{older}"):
        (tmp_path / name).write_text("step 1 loss 0.5\n")
    sources = discover([tmp_path]).sources
    assert [source.name for source in sources] == [f"train.log{older}", f"train.log{newer}", "train.log"]
    assert {source.worker for source in sources} == {None}


@pytest.mark.parametrize("name", ["run-20261121", "train-20261121.log", "worker-1.log"])
def test_a_date_that_is_no_suffix_of_a_log_makes_no_part(name: str) -> None:
    """It may be that of the run."""
    assert not is_rotated(name)
