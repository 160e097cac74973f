"""Log entries that programs wrote as JSON are read with all their fields."""

from __future__ import annotations

import json

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams
from analyzer.ingest.logs.collectors.structured import parse, render
from analyzer.ingest.logs.progress.reader import ProgressReader

TRACEBACK = 'Traceback (most recent call last):\n  File "/srv/train.py", line 4, in main\nValueError: bad'
FRAMES = '  File "/srv/train.py", line 4, in main\n'


def texts(*lines: str) -> list[str]:
    """The lines of one stream, as the readers of records see them."""
    (stream,) = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    return [text for _, text in stream.lines]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        pytest.param(
            {"event": "batch", "level": "info", "logger": "train", "loss": 0.5, "step": 12},
            "INFO:train:batch step=12 loss=0.5", id="structlog",
        ),
        pytest.param(
            {"message": "gone", "levelname": "CRITICAL", "name": "train", "lineno": 4, "rank": 3},
            "CRITICAL:train:gone rank=3", id="python-json-logger",
        ),
        pytest.param(
            {"textPayload": "2026-11-22 17:13:19 | INFO | step 4", "severity": "ERROR"},
            "2026-11-22 17:13:19 | INFO | step 4", id="Cloud Logging's severity of stderr is no level",
        ),
        pytest.param(
            {"jsonPayload": {"levelname": "INFO", "message": "Epoch 7/30"}, "resource": {"type": "ml_job"}},
            "Epoch 7/30", id="Vertex AI's level of a line is no level",
        ),
        pytest.param(
            {"jsonPayload": {"message": "x", "epoch": 2, "x_logloss": 0.4}, "severity": "INFO"},
            "x epoch=2 x_logloss=0.4", id="Cloud Logging's jsonPayload",
        ),
        pytest.param(
            {"text": "formatted\n", "record": {"message": "x", "level": {"name": "WARNING"}, "extra": {"step": 3},
             "name": "__main__", "time": {"timestamp": 1.5}}},
            "WARNING:__main__:x step=3", id="loguru",
        ),
        pytest.param(
            {"MESSAGE": "step 3 loss 0.5", "_HOSTNAME": "gpu1", "_PID": "7", "SYSLOG_IDENTIFIER": "train"},
            "step 3 loss 0.5 hostname=gpu1", id="journald",
        ),
        pytest.param({"msg": "step 3", "loss": 0.5, "step": 3}, "step 3 loss=0.5", id="told once"),
        pytest.param({"event": "epoch_end", "epoch": 4, "epochs": 5}, "epoch_end epoch=4/5 epochs=5", id="plan"),
        pytest.param({"message": "    {'loss': nan}", "host": "gpu1"}, "    {'loss': nan}", id="a line that goes on"),
        pytest.param({"version": "1.1", "host": "gpu1", "short_message": "step 3"}, "step 3", id="GELF"),
        pytest.param({"event": "epoch_start", "epoch": 4, "of": 5}, "epoch_start epoch=4 of=5", id="a beginning"),
    ],
)  # fmt: skip
def test_an_entry_becomes_a_line(entry: dict[str, object], text: str) -> None:
    """Level, logger, message and fields; not what only concerns the entry."""
    assert render(entry) == text


@pytest.mark.parametrize(
    "fields",
    [
        {"exc_info": TRACEBACK},
        {"exception": TRACEBACK + "\n"},
        {"stack_trace": TRACEBACK},
        {"error": {"stack_trace": TRACEBACK}},
        {"exc": TRACEBACK},
        {"trace": TRACEBACK},
        {"details": {"why": TRACEBACK}},
        {"exception": [{"exc_type": "ValueError", "exc_value": "bad",
                        "frames": [{"filename": "/srv/train.py", "lineno": 4, "name": "main"}]}]},
    ],
)  # fmt: skip
def test_an_exception_field_becomes_a_traceback(fields: dict[str, object]) -> None:
    """Whatever its name, as text or as structlog's list of frames."""
    text = render({"event": "failed", "level": "error", **fields})
    assert text == f"ERROR:root:failed\n{TRACEBACK}"


@pytest.mark.parametrize(
    "fields",
    [
        {"error": {"stack_trace": FRAMES, "type": "ValueError", "message": "bad"}},
        {"error.stack_trace": FRAMES, "error.type": "ValueError", "error.message": "bad"},
    ],
)
def test_frames_and_the_exception_beside_them_become_a_traceback(fields: dict[str, object]) -> None:
    """As Elastic's formatter splits them."""
    assert render({"event": "failed", "level": "error", **fields}).endswith(f"\n{TRACEBACK}")


def test_frames_without_an_exception_stay_frames() -> None:
    """A stack that a program logs is no exception."""
    text = render({"event": "slow", "level": "warning", "stack_trace": FRAMES})
    assert text == f"WARNING:root:slow\n{FRAMES.rstrip()}"


def test_the_traceback_of_loguru_stands_in_its_text() -> None:
    """The record itself holds only type and value."""
    record = {
        "message": "failed",
        "level": {"name": "ERROR"},
        "name": "t",
        "exception": {"type": "ValueError"},
    }
    assert render({"text": f"x | failed\n{TRACEBACK}\n", "record": record}) == f"ERROR:t:failed\n{TRACEBACK}"


def test_entries_among_other_lines_are_read_too() -> None:
    """A program's JSON with TensorFlow's own lines between."""
    native = "2026-11-21 01:40:37.754266: E tensorflow/core/ring.cc:290] Aborting"
    entry = json.dumps({"ts": 1795225237.5, "level": "info", "event": "step", "step": 3, "loss": 0.5})
    assert texts(native, native, entry)[2] == "2026-11-21T01:40:37.500000Z INFO:root:step step=3 loss=0.5"


def test_json_in_the_log_of_a_container_is_read() -> None:
    """Docker's entry around the program's own."""
    inner = json.dumps({"event": "step", "level": "info", "step": 3, "loss": 0.5})
    outer = json.dumps({"log": inner + "\n", "stream": "stderr", "time": "2026-11-21T01:40:37.5Z"})
    assert texts(outer, outer)[0] == "2026-11-21T01:40:37.500000Z INFO:root:step step=3 loss=0.5"


def test_other_objects_stay_as_they_are() -> None:
    """Errors of gRPC, and values without a time."""
    lines = [
        '{"created":"@1575306815.02","description":"Error received from peer"}',
        '{"step": 3, "loss": 0.5}',
    ]
    assert texts(*lines) == lines


def test_a_rendered_entry_is_progress() -> None:
    """Its step and its metrics are read."""
    text = render({"event": "train", "step": 7, "loss": 0.25})
    assert [(point.tag, point.step, point.value) for point in ProgressReader().points(text)] == [
        ("step", 7, 7.0),
        ("loss", 7, 0.25),
    ]


def test_only_whole_objects_are_parsed() -> None:
    """A line cut short is none."""
    assert parse('{"message": "x"') is None
    assert parse("[1]") is None


@pytest.mark.parametrize("key", ["level", "lvl", "loglevel", "severity_text"])
def test_a_level_by_any_common_name(key: str) -> None:
    """It is part of the prefix then, no field of the training."""
    assert render({"msg": "batch failed", key: "error"}) == "ERROR:root:batch failed"


def test_an_event_of_mlperf_becomes_its_key_with_its_value_and_metadata() -> None:
    """Its JSON stands behind a tag; the place in the code is no field of the training."""
    event = {"namespace": "", "time_ms": 1795690548904, "event_type": "POINT_IN_TIME", "key": "train_loss"}
    loss = {
        **event,
        "value": float("nan"),
        "metadata": {"epoch_num": 6, "file": "/opt/bench.py", "lineno": 66},
    }
    stop = {**event, "key": "run_stop", "value": None, "metadata": {"status": "success", "rank": 3}}
    lines = [f":::MLLOG {json.dumps(each)}" for each in (loss, stop)]
    time = "2026-11-26T10:55:48.904000Z"
    assert texts("plain", *lines) == [
        "plain", f"{time} train_loss epoch=6 train_loss=nan", f"{time} run_stop status=success rank=3",
    ]  # fmt: skip
