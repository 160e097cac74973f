"""Which container of a pod `mwms-collect k8s` takes for the one that trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analyzer.collect.commands import DryRun
from analyzer.collect.kubernetes import collect, job_of
from tests.collect.recorded_cluster import pod

CONFIG = '{"task": {"type": "worker", "index": 0}}'
DEFAULT = "kubectl.kubernetes.io/default-container"


class Answered(DryRun):
    """A cluster of one pod, and the texts that would be stored."""

    def __init__(self, only: dict[str, Any]) -> None:
        super().__init__(Path("run"), lambda outcome: None, timeout=1)
        self.only, self.texts = only, dict[str, str]()

    def query_json(self, *arguments: str) -> Any:
        """Answer the list of pods."""
        return {"items": [self.only]} if arguments[1:3] == ("get", "pods") else None

    def write(self, file: str, text: str) -> None:
        """Keep the text."""
        self.texts[file] = text


def collected(first: str, second: str, *, config: str = "", default: str = "") -> Answered:
    """Return what is collected of a pod with two containers: the first still runs, the second ended with 3."""
    annotations = {DEFAULT: default} if default else {}
    made = pod("bert-0", 3, labels={"batch.kubernetes.io/job-name": "bert"}, annotations=annotations)
    (ended,) = made["status"]["containerStatuses"]
    running = ended | {"name": first, "state": {"running": {}}}
    made["status"]["containerStatuses"] = [running, ended | {"name": second}]
    made["spec"]["containers"] = [{"name": name} for name in (first, second)]
    for each in made["spec"]["containers"]:
        if each["name"] == config:
            each["env"] = [{"name": "TF_CONFIG", "value": CONFIG}]
    answered = Answered(made)
    collect(answered, job_of("job/bert", None, ()))
    return answered


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        ("istio-proxy", "fit", {}),
        ("linkerd-proxy", "fit", {}),
        ("fluentd", "bert", {}),
        ("helper", "bert", {}),
        ("helper", "tensorflow", {}),
        ("helper", "trainer", {}),
        ("helper", "fit", {"default": "fit"}),
        ("helper", "fit", {"config": "fit"}),
        ("tensorflow", "fit", {"config": "fit"}),
        ("helper", "fit", {"config": "fit", "default": "helper"}),
    ],
)
def test_a_sidecar_that_is_listed_first_does_not_train(
    first: str, second: str, options: dict[str, str]
) -> None:
    """Its state is not the worker's, nor is its log; what the job says goes before a guess by names."""
    answered = collected(first, second, **options)
    assert answered.texts["exit_codes.txt"] == "bert-0 3\n"
    assert [file for file in answered.saved if file.endswith(".log")] == ["bert-0.log"]
    assert ("tf_config-bert-0.json" in answered.texts) == ("config" in options)


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        ("fit", "istio-proxy", {}),
        ("fit", "helper", {}),
        ("tensorflow", "helper", {}),
        ("fit", "helper", {"default": "gone"}),
        ("istio-proxy", "vault-agent", {}),
        ("istio-proxy", "fit", {"default": "istio-proxy"}),
    ],
)
def test_the_first_container_trains_where_nothing_says_otherwise(
    first: str, second: str, options: dict[str, str]
) -> None:
    """Another one that failed has its log in a directory of its own."""
    answered = collected(first, second, **options)
    assert answered.texts["exit_codes.txt"] == "bert-0 running\n"
    assert sorted(answered.saved) == ["bert-0.log", f"{second}/bert-0.log"]
