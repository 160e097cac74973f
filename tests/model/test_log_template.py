"""A text without what differs from run to run."""

from __future__ import annotations

import pytest

from analyzer.model.log_template import template_of, undated_template


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("read gs://bucket/data-00001.tfrecord twice", "read <url> twice"),
        ("see https://example.org/a?b=1, please", "see <url> please"),
        ("no file /data/train/part-7", "no file <path>"),
        ("at 0x7f27ff60b210 and deadbeefdeadbeef", "at <hex> and <hex>"),
        ("/job:worker/replica:0/task:1/device:GPU:0 left worker-3", "<task> left <task>"),
        ("connect to 10.0.0.7:2222 and node-1.cluster:8471", "connect to <address> and <address>"),
        ("(node-1.cluster:8471)", "(<address>)"),
        ("ipv4:10.128.0.5:8470: Failed to connect", "<address><address>: Failed to connect"),
        ("node-a:2222-node-b:2222", "<address><address>"),
        ("10.0.0.7.nip.io:2222", "<address><address>"),
        ("foo.10.0.0.7:9 in a.py:12-b.py:34", "foo.<address> in <address><address>"),
        ("--node:22 ...core/client.cc:81]", "--<address> ...core/<address>]"),
        ("run_id=7f3a1c of 0b9c1f7e-55aa-4c7e-9d10-3b8a8b8f1c11", "<id> of <id>"),
        ("'jobId': 'a-7', grid=7", "'<id>', grid=<n>"),
        ("loss 1.5e-3   at step 40", "loss <n> at step <n>"),
    ],
)
def test_what_differs_is_masked(text: str, without: str) -> None:
    """Once for each kind of thing."""
    assert template_of(text) == without


@pytest.mark.parametrize(
    "text",
    [
        "INFO:tensorflow:Cluster is ready.",
        "2026-11-24T09:12:14.037576142Z INFO:tensorflow:Cluster is ready.",
        "[2026-11-24 09:12:14,037] INFO:tensorflow:Cluster is ready.",
        "2026-11-24T09:12:14Z 2026-11-24 09:12:14 INFO:tensorflow:Cluster is ready.",
        "Nov 24 09:12:14 INFO:tensorflow:Cluster is ready.",
    ],
)
def test_times_before_a_line_make_no_difference(text: str) -> None:
    """Of the program or of those that collected its output."""
    assert undated_template(text) == "INFO:tensorflow:Cluster is ready."


@pytest.mark.parametrize("text", ["ended at 09:12:14 with 3", "ERROR: Cluster is ready", "12 34 56", ""])
def test_the_rest_of_a_line_stays(text: str) -> None:
    """A time within it, its level, and numbers that are no time."""
    assert undated_template(text) == template_of(text)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", "a.", "/a", "1", "1.", "a:", "a-", ".", "http://", "0x"])
def test_no_pattern_goes_back_over_what_it_has_read(unit: str) -> None:
    """One that did would not be done before the time limit of a test."""
    assert template_of(unit * (1_000_000 // len(unit)))
