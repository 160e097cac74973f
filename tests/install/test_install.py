"""What the README promises to a newcomer, done as a newcomer would."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.install.environments import building, environment, installing, shell
from tests.recordings import ROOT

pytestmark = [pytest.mark.install, pytest.mark.xdist_group("install"), pytest.mark.timeout(900)]


def first_command() -> str:
    """The first command of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- first command -->\n```sh\n(.+?)\n```", text)
    assert found
    return found[1]


def test_the_first_command_of_the_readme_ends_with_a_diagnosis_and_a_report(tmp_path: Path) -> None:
    """From a fresh clone in an empty directory."""
    clone = tmp_path / "mwms-analyze"
    shell(f"git clone --quiet '{ROOT}' '{clone}'", tmp_path)
    printed = shell(first_command(), clone)
    assert "FAILED" in printed
    report = clone / printed.splitlines()[-1].removeprefix("Report: ")
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_wheel_carries_its_rules_and_templates(tmp_path: Path) -> None:
    """It works from an empty directory, isolated from everything around it."""
    shell(building(ROOT, tmp_path), tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    use = environment(tmp_path)
    shell(use + installing(f"'{wheel}'"), tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    run = ROOT / "sample_runs" / "worker-killed" / "run"
    printed = shell(
        f"{use}python -I -m mwms_analyze '{run}' --format html,json -o '{empty}' || test $? -eq 1", empty
    )
    assert "worker:2" in printed
    assert "worker-killed" in shell(f"{use}mwms-train list", empty)
    assert "worker-killed" in shell(f"{use}mwms-rules list", empty)
    assert {path.suffix for path in empty.iterdir() if path.is_file()} == {".html", ".json"}
    see_that_a_pack_counts(use, empty)


def see_that_a_pack_counts(use: str, folder: Path) -> None:
    """Once it is installed, its rules and its reader are used, and with `--no-packs` they are not."""
    shell(use + installing(f"'{ROOT}/docs/example_pack'"), folder)
    (folder / "run").mkdir()
    (folder / "run" / "acme-journal.txt").write_text("worker-1 drained: ECC errors\n")
    shutil.copy(ROOT / "sample_runs/worker-killed/run/worker-0.log", folder / "run")
    call = f"{use}mwms-analyze run --format json -o -"
    diagnosis = json.loads(shell(f"{call} || test $? -eq 1", folder))
    assert (diagnosis["cause"], diagnosis["culprits"]) == ("acme.drained", ["worker:1"])
    assert diagnosis["made_with"]["packs"][1]["version"] == "1.2.0"
    assert diagnosis["made_with"]["versions"]["mwms-rules-acme"] == "1.2.0"
    assert "acme.drained" not in shell(f"{call} --no-packs || test $? -le 3", folder)
    assert "mwms-rules-acme 1.2.0 (rules acme)" in shell(f"{use}mwms-analyze --version", folder)
    own = shell(f"{use}mwms-rules test '{ROOT}/docs/example_pack/mwms_rules_acme' || true", folder)
    assert "2 cases, 0 failed, 0 skipped" in own


def test_what_the_dockerfile_copies_is_enough_to_install(tmp_path: Path) -> None:
    """No Docker engine is needed to see that a file is missing from the image."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE):
        *names, _ = line.split()
        for name in names:
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, target)
    shell(building(tmp_path, tmp_path / "out"), tmp_path)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as made:
        assert any(name.endswith(".dist-info/licenses/LICENSE") for name in made.namelist())
    assert "USER analyst" in text
    assert 'ENTRYPOINT ["/opt/mwms/bin/python", "-I", "-m", "analyzer"]' in text
