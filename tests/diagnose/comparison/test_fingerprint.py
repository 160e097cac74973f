"""Equal for failures that one action would end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from analyzer.diagnose.comparison.fingerprint import fingerprint
from analyzer.diagnose.decide import Decision
from analyzer.model.findings import Verdict
from analyzer.model.run import Tables

FRAME = "/srv/a/train.py:{} in {}"


def identity(
    cause: str,
    culprit: str = "worker:1",
    rule: str = "a-rule",
    raised: tuple[str, str, str] = ("", "", ""),
    renamed: dict[str, str] | None = None,
) -> str:
    """The fingerprint of a run with one exception: class, frame, message."""
    kind, frame, message = raised
    row = {"type": kind, "frame": frame or None, "message": message, "own": True, "final": True}
    tables = {"exceptions": pl.DataFrame([row]), "lifetimes": pl.DataFrame({"ended": ["exception"]})}
    chosen: Any = SimpleNamespace(culprits=(culprit,), rule=rule) if cause != "unknown" else None
    decision = Decision(Verdict.FAILED, cause, 0.9, chosen)
    return fingerprint(decision, cast(Tables, tables), renamed or {})


MISSING = "No such file or directory: '/mnt/{}/shard-{}.tfrecord'"

DEVICE = "_device_/job:worker/replica:0/task:5/device:CPU:0"
"""As TensorFlow 2.10 and later put it into the name of a function in errors; see missing-file-absl-six."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"cause": "peer.killed", "culprit": "worker:1"}, {"cause": "peer.killed", "culprit": "chief:0"}),
        ({"cause": "peer.killed", "rule": "a-rule"}, {"cause": "peer.killed", "rule": "another-rule"}),
        (
            {"cause": "user.exception", "raised": ("KeyError", FRAME.format(7, "step"), "'a'")},
            {"cause": "user.exception", "raised": ("KeyError", "/home/b/train.py:9 in step", "'b'")},
        ),
        (
            {"cause": "api.collective_mismatch", "raised": ("InternalError", FRAME.format(7, "step"), "")},
            {"cause": "api.collective_mismatch", "raised": ("AbortedError", FRAME.format(8, "step"), "")},
        ),
        (
            {
                "cause": "data.missing_file",
                "raised": ("OSError", FRAME.format(7, "f"), MISSING.format("x-1", 17)),
            },
            {
                "cause": "data.missing_file",
                "raised": ("OSError", FRAME.format(8, "g"), MISSING.format("x-2", 18)),
            },
        ),
        (
            {"cause": "data.missing_file", "raised": ("NotFoundError", "", "data/1.tfrecord; No such file")},
            {
                "cause": "data.missing_file",
                "raised": (
                    "NotFoundError",
                    "",
                    f"{{{{function_node __wrapped__x{DEVICE}}}}} data/2.tfrecord; No such file",
                ),
            },
        ),
        (
            {"cause": "resource.disk_full", "raised": ("OSError", "", "/a/b: No space left on device")},
            {"cause": "resource.disk_full", "raised": ("OSError", "", "/c/d: No space left on device")},
        ),
        (
            {"cause": "network.flaky"},
            {"cause": "network.partition", "renamed": {"network.flaky": "network.partition"}},
        ),
        (
            {"cause": "hang.at_startup", "rule": "one"},
            {"cause": "hang.at_startup", "rule": "three", "renamed": {"one": "two", "two": "three"}},
        ),
    ],
)
def test_one_action_would_end_both(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Whatever the worker, the line, the numbers, and the names that rules and causes have by now."""
    assert identity(**one) == identity(**other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"cause": "peer.killed"}, {"cause": "peer.crashed"}),
        ({"cause": "peer.killed", "culprit": "worker:1"}, {"cause": "peer.killed", "culprit": "ps:1"}),
        ({"cause": "hang.at_startup", "rule": "one"}, {"cause": "hang.at_startup", "rule": "other"}),
        (
            {"cause": "user.exception", "raised": ("KeyError", FRAME.format(7, "step"), "'a'")},
            {"cause": "user.exception", "raised": ("KeyError", FRAME.format(7, "load"), "'a'")},
        ),
        (
            {"cause": "api.collective_mismatch", "raised": ("InternalError", FRAME.format(7, "save"), "")},
            {"cause": "api.collective_mismatch", "raised": ("InternalError", FRAME.format(7, "step"), "")},
        ),
        (
            {"cause": "data.missing_file", "raised": ("OSError", "", MISSING.format("faces", 1))},
            {"cause": "data.missing_file", "raised": ("OSError", "", MISSING.format("cars", 1))},
        ),
        (
            {"cause": "unknown", "raised": ("RuntimeError", "", "queue is closed")},
            {"cause": "unknown", "raised": ("RuntimeError", "", "no such node")},
        ),
    ],
)
def test_different_actions_are_needed(one: dict[str, Any], other: dict[str, Any]) -> None:
    """For another cause, role, rule of a general cause, place in the code, or directory of files."""
    assert identity(**one) != identity(**other)
