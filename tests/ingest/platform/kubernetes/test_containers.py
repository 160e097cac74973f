"""Which of a pod's containers says how the worker ended."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml

from analyzer.ingest.platform.kubernetes.containers import lines_of_helpers

DESCRIBED = """\
Name:         bert-worker-1
Annotations:  kubectl.kubernetes.io/default-container: app
Init Containers:
  fetch:
    State:          Terminated
      Exit Code:    0
Containers:
  app:
    Image:          train:3
    State:          Terminated
      Exit Code:    0
    Environment:
      LEVEL:        2
  istio-proxy:
    State:          Terminated
      Exit Code:    137
Volumes:
  data:
    Type:    NFS
"""


def pod(status: Sequence[str], spec: Sequence[str], annotated: str = "") -> dict[str, Any]:
    """A pod whose containers of `status` ended with 0, 1, 2, ..., in the order of the API server's keys."""
    marks = {"kubectl.kubernetes.io/default-container": annotated} if annotated else {}
    ended = [
        {"name": name, "state": {"terminated": {"exitCode": code, "reason": "Error"}}}
        for code, name in enumerate(status)
    ]
    listed = [{"env": [{"name": "LEVEL", "value": "2"}], "image": "x", "name": name} for name in spec]
    return {
        "kind": "Pod",
        "metadata": {"annotations": marks, "name": "bert-worker-1"},
        "spec": {"containers": listed, "nodeName": "n1"},
        "status": {"containerStatuses": ended, "phase": "Failed"},
    }


def codes_left(text: str) -> list[str]:
    """The exit codes that stand outside the lines of helpers."""
    lines = text.split("\n")
    helping = lines_of_helpers(lines)
    left = [line for place, line in enumerate(lines, 1) if place not in helping and "exitCode" in line]
    return [line.split(":")[1].strip(" ,") for line in left]


@pytest.mark.parametrize("form", ["json", "yaml", "yaml list"])
@pytest.mark.parametrize(
    ("described", "expected"),
    [
        (pod(["istio-proxy", "tensorflow"], ["tensorflow", "istio-proxy"]), ["1"]),
        (pod(["tensorflow", "istio-proxy"], ["tensorflow", "istio-proxy"]), ["0"]),
        (pod(["bert", "vault-agent"], ["vault-agent", "bert"]), ["0"]),
        (pod(["acme-mesh", "bert"], ["bert", "acme-mesh"]), ["1"]),
        (pod(["acme-mesh", "bert"], ["acme-mesh", "bert"], annotated="bert"), ["1"]),
        (pod(["main", "wait"], ["wait", "main"]), ["0"]),
    ],
)
def test_the_training_container_counts(form: str, described: Mapping[str, Any], expected: list[str]) -> None:
    """By the annotation, by its name, or as the first that is no known helper; statuses have another order."""
    listed = {"items": [described, copy.deepcopy(described)], "kind": "List"}
    text = {
        "json": json.dumps(listed, indent=4),
        "yaml": yaml.safe_dump(described),
        "yaml list": yaml.safe_dump(listed),
    }[form]
    assert codes_left(text) == (expected if form == "yaml" else expected * 2)


@pytest.mark.parametrize(
    "described",
    [
        pod(["trial"], ["trial"]),
        pod(["istio-proxy"], ["istio-proxy"]),
        pod(["tensorflow", "pytorch"], ["tensorflow", "pytorch"]),
        pod(["one", "two"], []),
    ],
)
def test_what_may_train_is_not_left_out(described: Mapping[str, Any]) -> None:
    """A lone container trains, whatever its name; of several that may, each counts."""
    text = json.dumps(described, indent=1)
    assert codes_left(text) == [str(code) for code in range(text.count("exitCode"))]


def test_a_description_has_names_above_the_containers() -> None:
    """And init containers in a section of their own."""
    lines = DESCRIBED.split("\n")
    left_out = [line.strip() for place, line in enumerate(lines, 1) if place in lines_of_helpers(lines)]
    assert left_out == ["istio-proxy:", "State:          Terminated", "Exit Code:    137"]
