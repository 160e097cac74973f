"""Whose job it was: team, job and owner from directories, and where the outputs say it."""

from __future__ import annotations

import json

import pytest

from analyzer.model.errors import UsageError
from analyzer.triage.layout import Layout, Ownership
from tests.triage.conftest import Desk


@pytest.mark.parametrize(
    ("path", "team", "job"),
    [
        ("nlp/bert/48213", "nlp", "bert"),
        ("bert/48213", None, "bert"),
        ("2026-11-20/bert", None, "bert"),
        ("vision/unet/runs/run-3/2026-11-20", "vision", "unet"),
        ("team/resnet50/a1b2c3d4", "team", "resnet50"),
        ("48213", None, None),
    ],
)
def test_a_guess(path: str, team: str | None, job: str | None) -> None:
    """Dates, numbers and hashes name no job; a lone name is a job and no team."""
    assert Layout().of(f"/srv/runs/{path}", "/srv/runs") == Ownership(team, job, None)


def test_homes_name_owners() -> None:
    """Below /home, the first directory is a person."""
    assert Layout().of("/home/alice/unet/7", "/home") == Ownership(None, "unet", "alice")


def test_a_pattern_and_owners() -> None:
    """A pattern replaces the guess where it matches; the first owner whose glob matches counts."""
    layout = Layout("{date}/{owner}-{job}", {"*/bob-*": "@vision", "*": "@all"})
    assert layout.of("s3://b/runs/2026-11-20/bob-unet/run", "s3://b/runs") == Ownership(
        None, "unet", "@vision"
    )
    assert layout.of("s3://b/runs/nlp/bert/1", "s3://b/runs") == Ownership("nlp", "bert", "@all")
    for wrong in ("{teams}/{job}", "{job}/{job}"):
        with pytest.raises(UsageError, match="--layout"):
            Layout(wrong).of("/r/a/b", "/r")


@pytest.mark.processes
def test_page_digest_and_json_say_whose_job_it_was(desk: Desk) -> None:
    """Path, team, job, owner and first run of a group; and a digest for each team."""
    first = desk.write("nlp/bert/1", "KeyError: 'label'")
    config = desk.out.parent / "triage.toml"
    config.write_text('digest-by = "team"\n[owners]\n"nlp/*" = "@nlp-oncall"\n', encoding="utf-8")
    desk.call("--config", str(config))
    second = desk.write("nlp/bert/2", "KeyError: 'label'")
    desk.write("vision/unet/1", "ValueError: 3 < 4")
    desk.call("--config", str(config), now="2026-11-22T06:00:00")
    (known,) = [
        each for each in json.loads((desk.out / "groups.json").read_text())["groups"] if each["runs"] == 2
    ]
    assert (known["run"]["path"], known["first_run"]["path"]) == (str(second), str(first))
    assert (known["run"]["team"], known["run"]["job"], known["run"]["owner"]) == (
        "nlp",
        "bert",
        "@nlp-oncall",
    )
    line = json.loads((desk.out / "runs.jsonl").read_text().splitlines()[0])
    assert (line["team"], line["job"], line["owner"]) == ("nlp", "bert", "@nlp-oncall")
    page = (desk.out / "index.html").read_text(encoding="utf-8")
    assert "team nlp, job bert, owner @nlp-oncall" in page
    assert str(first) in page
    assert {path.name for path in (desk.out / "digests").iterdir()} == {"nlp.md", "vision.md"}
    theirs = (desk.out / "digests/nlp.md").read_text(encoding="utf-8")
    assert str(second) in theirs
    assert "unet" not in theirs
    assert known["group"] in theirs, "what `mwms-triage ack` wants"
