"""A manifest declares a job; nothing that it says has happened."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.pastes.manifests import declared
from analyzer.ingest.logs.pastes.markdown import unmarked

MANIFEST = [
    "apiVersion: kubeflow.org/v1",
    "kind: TFJob",
    "metadata:",
    "  annotations:",
    '    note: "OOMKilled is retried"',
    "spec:",
    "  tfReplicaSpecs:",
    "    Worker:",
    "      template:",
    "        spec:",
    "          containers:",
    "          - name: tensorflow",
    "            env:",
    '            - {name: ON_FAILURE, value: "Segmentation fault"}',
]
LOG = "2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce"


def test_a_manifest_is_emptied() -> None:
    """Lines keep their numbers, and what stands around it stays."""
    assert unmarked(["$ cat job.yaml", *MANIFEST, "", LOG]) == [
        "$ cat job.yaml",
        *[""] * len(MANIFEST),
        "",
        LOG,
    ]


def test_the_cluster_that_it_states_is_kept() -> None:
    """It is read wherever it stands."""
    stated = """            - {name: TF_CONFIG, value: '{"cluster": {"worker": ["a:1"]}}'}"""
    lines = [*MANIFEST, stated]
    assert len(lines) - 1 not in set(declared(lines))


@pytest.mark.parametrize(
    "lines",
    [
        [*MANIFEST, "status:", "  phase: Failed"],
        ["items:", *(f"  {line}" for line in MANIFEST), "  status:", "    phase: Failed"],
        [
            "apiVersion: v1",
            "items:",
            "- apiVersion: v1",
            "  kind: Event",
            "  message: OOMKilled",
            "kind: List",
        ],
        ["apiVersion: v1", LOG],
        ["this job's apiVersion: v1 is old", "kind: TFJob"],
    ],
    ids=["read from the cluster", "in a list", "an event", "without a kind", "prose"],
)
def test_what_is_no_manifest_stays(lines: list[str]) -> None:
    """An object with a status tells what happened."""
    assert list(declared(lines)) == []


def test_a_manifest_ends_where_yaml_does() -> None:
    """Whatever is printed below it without a blank line."""
    assert list(declared([*MANIFEST, LOG])) == list(range(len(MANIFEST)))
