"""A pod of several containers, all the way: what a worker's end is taken from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.ingest.platform.kubernetes.test_pods import LOGS, pod
from tests.rules import our_rules

MakeRun = Callable[[Mapping[str, str]], Path]


@pytest.mark.runs
@pytest.mark.parametrize("first", ["tensorflow", "istio-proxy"])
def test_a_proxy_that_is_killed_at_the_end_is_not_the_worker(make_run: MakeRun, first: str) -> None:
    """A service mesh outlives the work, and is then killed."""
    proxy = {"name": "istio-proxy", "restartCount": 1, "state": {"terminated": {"exitCode": 137}}}
    described = [pod(index, 0, "Completed") for index in (0, 1)]
    for each in described:
        each["status"]["containerStatuses"].insert(first == "tensorflow", proxy)
    run = make_run(LOGS | {"pods.json": json.dumps({"items": described}, indent=4)})
    tables = load_tables(discover([run]), our_rules())
    facts = tables["facts"]
    assert facts.filter(key="exit_code")["value"].to_list() == ["0", "0"]
    assert facts.filter(key="restarts").is_empty()
