"""The prefix of a line is taken apart, whoever printed it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ingest.logs.prefixes.heads import Head, head
from analyzer.ingest.logs.prefixes.time_formats import seconds

NOON = 1795225237.0


def zoned(kind: str, time: float, level: str | None, origin: str | None, text: str) -> Head:
    """The prefix of a line whose time is that of any time zone."""
    return Head(kind, time, level, origin, text, zoned=True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting",
         Head("cpp", 1795225237.754266, "E", "ring_alg.cc", "Aborting")),
        ("I0000 00:00:1795224703.563885    6612 port.cc:153] oneDNN",
         zoned("cpp", 1795224703.563885, "I", "port.cc", "oneDNN")),
        ("E1121 01:40:37.555703050    3200 server_chttp2.cc:40]        {json}",
         Head("cpp", 1795225237.555703, "E", "server_chttp2.cc", "       {json}")),
        ("WARNING:tensorflow:seems down", Head("python", None, "W", "tensorflow", "seems down")),
        ("2026-11-21 01:40:37,500 INFO train: step 3", Head("python", NOON + 0.5, "I", "train", "step 3")),
        ("INFO 2026-11-21 01:40:37 step 3", Head("python", NOON, "I", None, "step 3")),
        ("<11>1 2026-11-21T01:40:37Z node-3 psjob 5470 - - step 3", zoned("python", NOON, "E", "psjob", "step 3")),
        ("<14>1 2026-11-21T01:40:37Z - app - m [a b=\"1\"] step 3", zoned("python", NOON, "I", "app", "step 3")),
        ("11/21/2026 01:40:37 - INFO - __main__ - step 3", Head("python", NOON, "I", "__main__", "step 3")),
        ("21/11/2026 01:40:37 step 3", Head("plain", NOON, None, None, "step 3")),
        ("21.11.2026 01:40:37 | step 3", Head("plain", NOON, None, None, "step 3")),
        ("11-21 01:40:37 [info] step 3", Head("python", NOON, "I", None, "step 3")),
        ("2026-11-21 01:40:37 [error    ] gone    [train] shard=3",
         Head("python", NOON, "E", None, "gone    [train] shard=3")),
        ("2026-11-21 01:40:37 error: gone", Head("plain", NOON, None, None, "error: gone")),
        ("[11/21 01:40:37.5] INFO step 3", Head("python", NOON + 0.5, "I", None, "step 3")),
        ("2026年11月21日 01:40:37 第 3 步", Head("plain", NOON, None, None, "第 3 步")),
        ("2026-11-21 01:40:37 - train - ERROR - gone", Head("python", NOON, "E", "train", "gone")),
        ("[2026-11-21T01:40:37Z] rank=0 step 3", zoned("plain", NOON, None, None, "rank=0 step 3")),
        ("2026-11-21T01:40:37Z Traceback (most recent call last):",
         zoned("plain", NOON, None, None, "Traceback (most recent call last):")),
        ("2026-11-21T01:40:37Z WARNING:tensorflow:seems down", zoned("python", NOON, "W", "tensorflow", "seems down")),
        ("W1121 01:40:37.123456 140012345678912 train.py:31] no checkpoint",
         Head("python", NOON + 0.123456, "W", "train.py", "no checkpoint")),
        ("2026-11-21 01:40:37.5 | CRITICAL | __main__:loop:121 - gone",
         Head("python", NOON + 0.5, "E", "__main__", "gone")),
        ("2026-11-21T01:40:37.5Z 17:14:19,250 train    ERROR  gone",
         zoned("python", NOON + 0.5, "E", "train", "gone")),
        ("2026-11-21T01:40:37.5Z [2026-11-21 01:40:37] ERROR gone",
         zoned("python", NOON + 0.5, "E", None, "gone")),
        ("2026-11-21T01:40:37.5Z 17:14:19", zoned("plain", NOON + 0.5, None, None, "17:14:19")),
        ("CRITICAL:root:gone", Head("python", None, "E", "root", "gone")),
        ("17:14:19 ERROR train: gone", Head("python", None, "E", "train", "gone", 62_059.0)),
        ("INFO     17:14:19.500 (train.py:22) step 3",
         Head("python", None, "I", None, "(train.py:22) step 3", 62_059.5)),
        ("[17:14:19.5] step 3", Head("plain", None, None, None, "step 3", 62_059.5)),
        ("05:14:19 PM step 3", Head("plain", None, None, None, "step 3", 62_059.0)),
        ("12:00:01AM | step 3", Head("plain", None, None, None, "step 3", 1.0)),
        ("25:14:19 step 3", Head("plain", None, None, None, "step 3")),
        ("1795225237.5 ERROR train: gone", zoned("python", NOON + 0.5, "E", "train", "gone")),
        ("[1795225237] step 3", zoned("plain", NOON, None, None, "step 3")),
        ("1795225237 ERROR gone", zoned("python", NOON, "E", None, "gone")),
        ("Nov 21 01:40:37 node-3 python[47]: gone", Head("plain", NOON, None, None, "node-3 python[47]: gone")),
        ("[Sat Nov 21 01:40:37 2026] oom-kill", Head("plain", NOON, None, None, "oom-kill")),
        ('{"time": "2026-11-21T01:40:37Z", "level": "error", "step": 3}',
         zoned("plain", NOON, "E", None, '{"time": "2026-11-21T01:40:37Z", "level": "error", "step": 3}')),
        ('{"t": 1795225237500, "step": 3}',
         zoned("plain", NOON + 0.5, None, None, '{"t": 1795225237500, "step": 3}')),
        ('{"created": 1795225237.5, "loss": 17.5}',
         zoned("plain", NOON + 0.5, None, None, '{"created": 1795225237.5, "loss": 17.5}')),
        ('{"ts": 1795225237.5, "step": 3}',
         zoned("plain", NOON + 0.5, None, None, '{"ts": 1795225237.5, "step": 3}')),
    ],
)  # fmt: skip
def test_a_known_style_is_taken_apart(line: str, expected: Head) -> None:
    """When, how grave, from where, and the text."""
    found = head(line, 2026)
    assert found is not None
    assert found._replace(time=None) == expected._replace(time=None)
    assert found.time == pytest.approx(expected.time, abs=1e-5) if expected.time else found.time is None


@pytest.mark.parametrize(
    "line",
    [
        "step 3 loss 0.5",
        "In the beginning",
        "E = mc2",
        "",
        "2026 was a good year",
        "1795225237 rows read",
        "Jan 32 01:40:37 node-3 x",
        "13-21 01:40:37 step 3",
        "11-21 01:40 is when it began",
        "{'time': 3}",
        '{"step": 3, "loss": 0.5}',
        "[1795225237, 3]",
        "<unk>1 2026-11-21T01:40:37Z was in the vocabulary of a b c",
        "<14>1 of 3 shards read by a b - -",
    ],
)
def test_a_plain_line_has_no_prefix(line: str) -> None:
    """A letter or a number at the start is not enough."""
    assert head(line, 2026) is None


def test_a_zone_is_obeyed() -> None:
    """And no zone is read as UTC."""
    assert seconds("2026-11-21 01:40:37+01:00") == NOON - 3600
    assert seconds("2026-11-21 01:40:37") == NOON
    assert seconds("2026-99-99 01:40:37") is None


@given(st.text(max_size=200))
def test_no_line_breaks_it(line: str) -> None:
    """Whatever a line says, it has a prefix or none."""
    assert head(line, 2026) is None or isinstance(head(line, 2026), Head)
