"""What starts the triage at night is what its own judges accept, and every command line in it is one of ours."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
from typing import Any

import kubernetes_validate
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from analyzer.cli.options.triage import parser
from analyzer.triage.publish.metrics import metrics
from tests.recordings import ROOT
from tests.triage.conftest import Summaries

DEPLOY = ROOT / "deploy"


def commands() -> dict[str, list[str]]:
    """The arguments of each command line in `deploy/`."""
    cron = (DEPLOY / "crontab").read_text(encoding="utf-8").splitlines()[-1]
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "mwms-triage.service")
    (container,) = job()["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    return {
        "cron": shlex.split(cron.partition("mwms-triage ")[2]),
        "systemd": shlex.split(unit["Service"]["ExecStart"])[1:],
        "kubernetes": container["args"],
    }


def job() -> Any:
    """The manifest."""
    return yaml.safe_load((DEPLOY / "cronjob.yaml").read_text(encoding="utf-8"))


def test_the_manifest_is_valid() -> None:
    """By the schemas of Kubernetes, and nothing in it that they do not know."""
    manifest = job()
    versions = kubernetes_validate.latest_version(), "1.29"
    for version in versions:
        kubernetes_validate.validate(manifest, version, strict=True)
    manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]["restartPolicyy"] = "Never"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, versions[0], strict=True)


@pytest.mark.parametrize("where", ["cron", "systemd", "kubernetes"])
def test_every_command_line_is_understood(where: str) -> None:
    """By the command itself."""
    parsed = parser().parse_args(commands()[where])
    assert parsed.roots
    assert parsed.output


def test_the_crontab_line_is_one() -> None:
    """Five fields of time, and no percent sign, which cron would take for a line end."""
    line = (DEPLOY / "crontab").read_text(encoding="utf-8").splitlines()[-1]
    assert all(re.fullmatch(r"[\d*,/-]+", field) for field in line.split()[:5])
    assert "%" not in line


@pytest.mark.processes
def test_systemd_accepts_the_units() -> None:
    """Where systemd is there to ask."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    for unit in ("mwms-triage.service", "mwms-triage.timer"):
        asked = ["systemd-analyze", "verify", "--man=no", str(DEPLOY / unit)]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        said = [line for line in done.stderr.splitlines() if "not executable" not in line]
        assert said == [], unit


def test_the_image_serves_both_commands() -> None:
    """It installs what the triage needs, and has its command on the path."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"pip install .*'\.\[triage,", text)
    assert "ENV PATH=/opt/mwms/bin:$PATH" in text


def test_dashboard_and_alerts_ask_for_metrics_that_exist(after_sixty_nights: Summaries) -> None:
    """Every metric and label value of the queries is one that a night writes."""
    told = metrics(after_sixty_nights(1)).decode()
    families = {each.name: each for each in text_string_to_metric_families(told)}
    values = {
        value for each in families.values() for sample in each.samples for value in sample.labels.values()
    }
    board = json.loads((DEPLOY / "monitoring/grafana-dashboard.json").read_text(encoding="utf-8"))
    rules = yaml.safe_load((DEPLOY / "monitoring/prometheus-rules.yaml").read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    for query in queries:
        named = re.findall(r"mwms_triage_\w+", query)
        assert named
        assert {*named} <= {*families}, query
        assert {*re.findall(r'="(\w+)"', query)} <= values, query
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for rule in rules["groups"][0]["rules"]:
        assert {"alert", "expr", "labels", "annotations"} <= {*rule}
