"""What a run is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.discover.run_name import run_name


@pytest.mark.parametrize(
    ("folder", "files", "name"),
    [
        ("proj/run", ["get-tfjob-bert.json", "pods.json"], "bert"),
        ("proj/run", ["worker-0.log"], "proj"),
        ("proj/night-7", ["get-tfjob-bert.json"], "night-7"),
        ("proj/run", ["get-tfjob-bert.json", "get-job-gpt.json"], "proj"),
        ("proj/Logs", [], "proj"),
    ],
)
def test_a_general_name_gives_way_to_the_jobs(
    folder: str, files: list[str], name: str, tmp_path: Path
) -> None:
    """It is known where mwms-collect stored the job's description; a name of one's own stays."""
    (tmp_path / folder).mkdir(parents=True)
    for each in files:
        (tmp_path / folder / each).touch()
    assert run_name(tmp_path / folder) == name
    assert run_name(tmp_path / "bert.tar.gz") == "bert"
