"""Files that are hostile or broken, beside those that show the failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from tests.recordings import ROOT

pytestmark = pytest.mark.recordings

KILLED = ROOT / "sample_runs" / "worker-killed" / "run"
MakeRun = Callable[[Mapping[str, str]], Path]


def test_hostile_and_broken_files_do_not_stop_the_rest(make_run: MakeRun, tmp_path: Path) -> None:
    """Each is said, and the killed worker is found all the same."""
    run = make_run(
        {path.name: path.read_text(encoding="utf-8") for path in KILLED.iterdir() if path.is_file()}
    )
    (run / "events.out.tfevents.1.vm").write_bytes(b"not an event file at all, but long enough to be read")
    (run / "core.xplane.pb").write_bytes(b"\xff" * 300)
    (run / "loop").symlink_to(run)
    (run / "passwd.log").symlink_to("/etc/passwd")
    (run / "binary.bin").write_bytes(bytes(range(256)))
    main([str(run), "-o", str(tmp_path / "r.json")])
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["culprits"] == ["worker:2"]
    reasons = {source["name"]: source["read"] for source in document["sources"]}
    assert reasons["passwd.log"] == "skipped"
    assert reasons["binary.bin"] == "skipped"
    assert {damage["source"] for damage in document["damage"]} >= {
        "events.out.tfevents.1.vm",
        "core.xplane.pb",
    }
