"""`mwms-analyze --history`: when, how often and where the failure of a run was seen before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from analyzer.cli.analyze import main
from analyzer.render import decision, render
from analyzer.triage.database.earlier_runs import earlier_runs
from analyzer.triage.database.schema import ABOUT, HOSTS, METADATA, NIGHTS, RUNS, VERSION
from tests.render.documents import load

MakeRun = Callable[[Mapping[str, str]], Path]
DAY = 86_400.0
SAME = load("r101")
CULPRIT = next(worker for worker in SAME["workers"] if worker["id"] in SAME["culprits"])


def history(folder: Path, version: int = VERSION) -> str:
    """Make a history: the run itself, two like it (one on the same host), another failure, a healthy run."""
    url = f"sqlite:///{folder}/history.sqlite"
    engine = sa.create_engine(url)
    METADATA.create_all(engine)
    runs = [
        ("r101", SAME["fingerprint"], "failed", SAME["run"]["ended"], "gpu-9"),
        ("job-1", SAME["fingerprint"], "failed", 20_000 * DAY, CULPRIT["host"] or "gpu-2"),
        ("job-2", SAME["fingerprint"], "failed", None, "gpu-9"),
        ("job-3", "0" * 16, "failed", 20_001 * DAY, CULPRIT["host"] or "gpu-2"),
        ("job-4", SAME["fingerprint"], "healthy", 20_002 * DAY, "gpu-9"),
    ]
    with engine.begin() as connection:
        connection.execute(sa.insert(ABOUT).values(version=version))
        connection.execute(sa.insert(NIGHTS).values(date="2025-01-09", began=0.0))
        for n, (name, fingerprint, verdict, ended, host) in enumerate(runs, 1):
            row = {
                "id": n,
                "place": f"/runs/{name}",
                "name": name,
                "fingerprint": fingerprint,
                "ended": ended,
            }
            fixed = {
                "night": "2025-01-09",
                "latest": True,
                "told": True,
                "stamp": "",
                "content": "",
                "tries": 0,
            }
            connection.execute(sa.insert(RUNS).values(**row, **fixed, problem="", verdict=verdict))
            connection.execute(sa.insert(HOSTS).values(run=n, host=host, workers=1, culprits=1))
    engine.dispose()
    return url


def document() -> dict[str, Any]:
    """Return a diagnosis whose culprit's host is known."""
    CULPRIT["host"] = CULPRIT["host"] or "gpu-2"
    return dict(SAME)


def test_other_runs_with_the_fingerprint_count(tmp_path: Path) -> None:
    """Neither the run itself nor healthy runs; without a time of the end, the night of the examination."""
    found = earlier_runs(history(tmp_path), document())
    assert found == {"runs": 2, "of": 4, "first": "2024-10-04", "last": "2025-01-09", "same_host": 1}
    (said,) = decision.seen_before(SAME | {"history": found})
    assert said.answer == "Yes, 2 times"
    assert said.detail == "the first ended on 2024-10-04, the last on 2025-01-09; 1 time on the same host"


def test_the_history_is_only_read(tmp_path: Path) -> None:
    """Neither made where it is missing, nor upgraded; the reason is told."""
    url = f"sqlite:///{tmp_path}/history.sqlite"
    assert earlier_runs(url, document()) == {"skipped": f"{tmp_path}/history.sqlite: no such file"}
    assert list(tmp_path.iterdir()) == []
    hint = f"{tmp_path} is not a database URL; for an SQLite file, write sqlite:///{tmp_path}/history.sqlite"
    assert earlier_runs(str(tmp_path), document()) == {"skipped": hint}
    history(tmp_path, version=VERSION - 1)
    before = (tmp_path / "history.sqlite").read_bytes()
    assert "version" in earlier_runs(url, document())["skipped"]
    assert (tmp_path / "history.sqlite").read_bytes() == before


@pytest.mark.parametrize("url", ["nonsense", "oracle+none://host/db", "sqlite:///../nowhere/at/all"])
def test_what_cannot_be_read_is_skipped_with_a_reason(url: str) -> None:
    """The diagnosis is worth more than its history."""
    assert earlier_runs(url, document())["skipped"]


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"runs": 0, "of": 212, "first": None, "last": None, "same_host": 0}, "No"),
        ({"skipped": "no such table: about"}, "Unknown"),
    ],
)
def test_every_format_that_people_read_says_it(given: Mapping[str, Any], answer: str) -> None:
    """As one of the answers, with its detail."""
    made = SAME | {"history": given}
    (said,) = decision.seen_before(made)
    assert said.answer == answer
    for name in ("html", "text", "markdown"):
        assert "Seen before?" in render(made, name), name
    assert decision.seen_before(made | {"verdict": "healthy"}) == []


@pytest.mark.runs
def test_the_command_asks_and_goes_on(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that nobody saw before, and a history that is not there."""
    run = str(
        make_run({"worker-0.log": "step 1 loss 0.5\nTraceback (most recent call last):\nKeyError: 1\n"})
    )
    out = ["-o", str(tmp_path / "r.html")]
    assert main([run, *out, "--history", history(tmp_path)]) in {1, 3}
    assert "new among 4 failed runs in the history" in " ".join(capsys.readouterr().out.split())
    main([run, *out, "--history", f"sqlite:///{tmp_path}/none.sqlite"])
    told = capsys.readouterr()
    assert "--history was skipped: " in told.err
    assert "none.sqlite: no such file" in told.err
    assert "Seen before?" in told.out
