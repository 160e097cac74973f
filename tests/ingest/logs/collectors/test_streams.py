"""What collectors put before lines is taken off, and what they cut is put together again."""

from __future__ import annotations

import json

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams
from analyzer.ingest.logs.collectors.styles import EMBEDDED_STYLES
from analyzer.ingest.logs.collectors.timestamps import split_timestamp
from tests.ingest.logs.collectors.test_turns import streams

CRI = "2026-11-21T01:35:58.252546967Z {} {} {}"


def texts(file: str) -> list[tuple[int, str]]:
    """The lines of a file that is one stream, without the empty one behind its end."""
    lines = file.split("\n")
    (stream,) = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    return [(number, line) for number, line in stream.lines if line]


def entries(*logs: dict[str, str]) -> str:
    """A file of JSON objects."""
    return "".join(json.dumps(log) + "\n" for log in logs)


def test_a_task_error_of_ray_is_of_the_worker_that_raised_it() -> None:
    """The driver's lines below it too, up to one with a time; the trainer's own wrapper stays the driver's."""
    lines = [
        "(RayTrainWorker pid=11, ip=10.0.0.3) round 1",
        "(RayTrainWorker pid=12, ip=10.0.0.4) round 1",
        "ray.exceptions.RayTaskError(KeyError): ray::_Inner.train() (pid=10, ip=10.0.0.2, repr=Trainer)",
        "ray.exceptions.RayTaskError(KeyError): \x1b[36mray::_RayTrainWorker__execute.get_next()\x1b[39m (pid=12, ip=10.0.0.4)",
        "KeyError: 'b'",
        "2026-11-21 01:40:37 the trial ended",
        "ray.exceptions.RayTaskError(KeyError): ray::Actor.fit() (pid=11, ip=10.0.0.3, actor_id=1b2a, repr=Actor)",
        "KeyError: 'c'",
    ]
    streams = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    found = {stream.key: [number for number, _ in stream.lines] for stream in streams}
    assert found == {"pid=11": [1, 7, 8], "pid=12": [2, 4, 5], None: [3, 6]}


def test_the_traceback_that_ended_a_process_of_ray_is_of_that_process() -> None:
    """It begins on the line with its pid and its exit code; without a code that is the traceback, none follows."""
    lost = "(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker PID: {} Worker exit detail: {}"
    lines = [
        "(RayTrainWorker pid=11) round 1",
        "(RayTrainWorker pid=12) round 1",
        lost.format(12, "Worker exits with an exit code None. Traceback (most recent call last):"),
        "KeyError: 'b'",
        "(RayTrainWorker pid=11) round 2",
        lost.format(11, "Worker unexpectedly exits with a connection error code 2. End of file."),
        "the driver goes on",
    ]
    streams = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    found = {stream.key: [number for number, _ in stream.lines] for stream in streams}
    assert found == {"pid=11": [1, 5], "pid=12": [2, 3, 4], None: [6, 7]}


def test_a_stamp_of_multilog_is_a_time() -> None:
    """TAI64N, ten seconds ahead of Unix time; other words with an at sign are none."""
    assert split_timestamp("@400000006b0992bb0eaea8cc KeyError: 'b'") == (
        "2026-11-27T14:24:49.246327500Z", "KeyError: 'b'"
    )  # fmt: skip
    assert split_timestamp("@channel KeyError: 'b'") == ("", "@channel KeyError: 'b'")


def test_labels_of_loki_name_the_writer() -> None:
    """As `logcli query` prints them behind the time."""
    lines = [f'2026-11-21T01:40:3{n}Z {{app="mt", pod="mt-worker-{n % 2}"}} step {n}' for n in range(4)]
    streams = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert {stream.key: [number for number, _ in stream.lines] for stream in streams} == {
        "mt-worker-0": [1, 3],
        "mt-worker-1": [2, 4],
    }


def test_filebeat_names_the_pod_in_an_object_of_its_own() -> None:
    """As the Elastic Common Schema nests it."""
    lines = [
        json.dumps(
            {"kubernetes": {"pod": {"name": f"mt-{n}"}, "node": {"name": "a"}}, "message": f"step {n}"}
        )
        for n in (0, 1)
    ]
    streams = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert {stream.key for stream in streams} == {"mt-0", "mt-1"}


def test_entries_without_line_breaks_are_lines() -> None:
    """Fluent Bit takes the break off each."""
    assert texts(entries({"log": "a"}, {"log": "b"}, {"log": "c"})) == [(1, "a"), (2, "b"), (3, "c")]


def test_entries_that_are_marked_partial_go_on() -> None:
    """Fluent Bit keeps the mark of the container runtime."""
    marked = entries({"log": "a", "_p": "P"}, {"log": "b", "_p": "F"}, {"log": "c", "logtag": "F"})
    assert texts(marked) == [(1, "ab"), (3, "c")]


def test_docker_cuts_long_lines() -> None:
    """Where entries end with a break, one without goes on, in its own stream."""
    log = entries(
        {"log": "a", "stream": "stdout"},
        {"log": "x\n", "stream": "stderr"},
        {"log": "b\n", "stream": "stdout"},
    )
    assert texts(log) == [(1, "ab"), (2, "x")]


def test_the_streams_of_a_container_are_put_together_apart() -> None:
    """A long line of one may be cut while the other prints."""
    parts = [("stdout", "P", "a"), ("stderr", "F", "x"), ("stdout", "F", "b"), ("stderr", "F", "y")]
    told = texts("".join(CRI.format(*part) + "\n" for part in parts))
    when = CRI.split()[0]
    assert told == [(1, f"{when} ab"), (2, f"{when} x"), (4, f"{when} y")]


@pytest.mark.parametrize(
    "mark",
    [
        "{} ",
        "{} stdout F ",
        "worker-0-1  | {} ",
        "[pod/job-worker-0/tensorflow] {} ",
        "job_worker.1.q8xm2@gpu-3    | {} ",
    ],
    ids=["kubectl", "CRI", "compose", "kubectl --prefix", "docker service logs"],
)
def test_times_of_a_collector_stand_where_a_record_begins(mark: str) -> None:
    """Not within a traceback, and not where a line tells its own time."""
    lines = [
        "starting",
        "step 1 loss 0.5",
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in <module>',
        "KeyError: 'a'",
        "WARNING:tensorflow:seems down",
        "and goes on",
        "step 2 loss 0.4",
        "2026-11-21 01:35:58.352546: E tensorflow/core/ring.cc:1] lost",
    ]
    when = [f"2026-11-21T01:35:58.25254696{n}Z" for n in range(len(lines))]
    told = texts("".join(mark.format(when[n]) + f"{line}\n" for n, line in enumerate(lines)))
    timed = {0, 1, 2, 5, 7}
    assert told == [
        (n, f"{when[n - 1]} {line}" if n - 1 in timed else line) for n, line in enumerate(lines, 1)
    ]


def test_times_that_contradict_the_log_are_left_off() -> None:
    """A program may print local time."""
    own = "2026-11-21 03:35:58.252546: I tensorflow/core/ring.cc:1] up"
    assert texts(f"{CRI.format('stdout', 'F', own)}\n{CRI.format('stdout', 'F', 'step 1 loss 0.5')}\n") == [
        (1, own),
        (2, "step 1 loss 0.5"),
    ]


def test_entries_tell_their_time() -> None:
    """As ISO 8601, or as seconds or milliseconds since 1970."""
    times: list[object] = ["2026-11-21T01:40:37.5Z", 1795225237.5, 1795225237500]
    for time in times:
        log = json.dumps({"message": "step 1 loss 0.5", "timestamp": time}) + "\n"
        assert texts(log * 2)[0] == (1, "2026-11-21T01:40:37.500000Z step 1 loss 0.5")


def test_a_message_of_several_lines_is_several() -> None:
    """They share the number of the line of the file."""
    assert texts(entries({"message": "a\nb\n"}, {"message": "c"})) == [(1, "a"), (1, "b"), (2, "c")]


def test_a_line_that_begins_with_a_time_names_no_task() -> None:
    """`17:14:19` is no line of task 17; `17: text` is."""
    assert detect_style(["17:14:19 step 1 loss 0.5", "17:14:20 step 2 loss 0.4"]) is None
    (stream,) = split_streams([(1, "17: up"), (2, "17:")], detect_style(["17: up", "17:"]))
    assert (stream.key, stream.lines) == ("17", [(1, "up"), (2, "")])


def test_levels_before_a_bar_name_no_container() -> None:
    """Compose writes names there."""
    assert detect_style(["INFO | step 1", "ERROR | gone"]) is None


def test_the_lines_of_a_launcher_stand_apart() -> None:
    """Ray and mpirun mark what their children print, and not what they say themselves."""
    lines = ["starting 2 workers", "(Trainer pid=11, ip=10.0.0.3) up", "(Trainer pid=12) up", "job failed"]
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert {stream.key: stream.lines for stream in found} == {
        None: [(1, "starting 2 workers"), (4, "job failed")],
        "pid=11": [(2, "up")],
        "pid=12": [(3, "up")],
    }


def test_colours_before_a_prefix_do_not_hide_it() -> None:
    """Ray colours its prefixes."""
    lines = ["\x1b[36m(Trainer pid=11)\x1b[0m step 1 loss 0.5"] * 2
    (stream,) = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert stream == ("pid=11", [(1, "step 1 loss 0.5"), (2, "step 1 loss 0.5")])


@pytest.mark.parametrize(
    ("unit", "key"), [("trainer[42]", None), ("train-worker@2[42]", "train-worker@2"), ("kernel", None)]
)
def test_a_journal_tells_time_and_unit(unit: str, key: str | None) -> None:
    """Units that are named after a task are streams of their own; the year is not known."""
    lines = [f"Nov 22 17:14:1{n} gpu21 {unit}: step {n} loss 0.5" for n in range(2)]
    (stream,) = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert stream == (key, [(1, "Nov 22 17:14:10 step 0 loss 0.5"), (2, "Nov 22 17:14:11 step 1 loss 0.5")])


def test_the_error_of_a_replica_belongs_to_it() -> None:
    """AI Platform's summary of a job names them."""
    line = "The replica worker {} exited with a non-zero status of 1."
    lines = [line.format(3), line.format(1)]
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert [stream.key for stream in found] == ["worker 3", "worker 1"]


def test_ranks_of_determined_are_streams() -> None:
    """Lines of the agent and of the container's own commands have no rank."""
    lines = [
        "<info>    [2021-12-07 10:42:02] 1d0cefc1 || + exec python3 -m determined.exec.launch_autohorovod",
        "<>        [2021-12-07 10:42:15] 1d0cefc1 [rank=1] || step 1 loss 0.5",
        "<>        [2021-12-07 10:42:15] 6ed813d5 [rank=0] || step 1 loss 0.4",
    ]
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert {stream.key: stream.lines for stream in found} == {
        None: [(1, lines[0])],
        "1": [(2, "2021-12-07 10:42:15 step 1 loss 0.5")],
        "0": [(3, "2021-12-07 10:42:15 step 1 loss 0.4")],
    }
    bare = [line.partition("    ")[2].lstrip() for line in lines]
    assert [stream.key for stream in split_streams(list(enumerate(bare, 1)), detect_style(bare))] == [
        None,
        "1",
        "0",
    ]


def test_a_streamed_job_tells_level_time_and_task() -> None:
    """`gcloud ai-platform jobs stream-logs`; the level is that of the stream, not of the line."""
    lines = [f"ERROR\t2026-11-22 17:14:1{n} +0100\tworker-replica-{n}\t\tstep 1 loss 0.5" for n in range(2)]
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert [(stream.key, stream.lines[0][1]) for stream in found] == [
        ("worker-0", "2026-11-22 17:14:10+0100 step 1 loss 0.5"),
        ("worker-1", "2026-11-22 17:14:11+0100 step 1 loss 0.5"),
    ]


def test_entries_are_parted_by_the_name_of_their_log_stream() -> None:
    """CloudWatch writes `logStream` where it sends entries on, and `logStreamName` where it is asked."""
    lines = [
        json.dumps({"timestamp": 1795225237000 + n, "logStream": f"train/{n}", "message": "x"})
        for n in (4, 7)
    ]
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert [stream.key for stream in found] == ["train/4", "train/7"]


def test_compose_says_how_a_container_ended() -> None:
    """Without the bar that separates a container's name from its output."""
    found = streams("web-0-1  | step 1\nweb-1-1  | step 1\nweb-1-1 exited with code 137\nweb-0-1  | step 2\n")
    assert found == {"web-0-1": ["step 1", "step 2"], "web-1-1": ["step 1", "web-1-1 exited with code 137"]}


@pytest.mark.parametrize("labels", ["labels", "fields"])
def test_loki_tells_the_pod_of_a_line(labels: str) -> None:
    """As `logcli` and Grafana export it."""
    lines = [json.dumps({"line": f"step {n}", labels: {"pod": f"job-worker-{n}"}}) for n in range(2)]
    assert streams("\n".join(lines)) == {"job-worker-0": ["step 0"], "job-worker-1": ["step 1"]}


def test_a_level_is_no_host_of_a_journal() -> None:
    """`WARN exited: …` is supervisord's own text, as `ERROR trainer: …` is that of Python's logging."""
    lines = [
        "2026-11-20 10:10:01,002 WARN exited: trainer_2 (terminated by SIGSEGV (core dumped); not expected)",
        "2026-11-20 10:10:03,002 INFO gave up: trainer_2 entered FATAL state",
    ]
    (stream,) = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert [text for _, text in stream.lines] == lines


def test_a_task_in_brackets_behind_a_time() -> None:
    """As wrappers print that merge the output of their processes; a thread in brackets is no task."""
    lines = ["2026-11-21T01:35:58.252 [worker-0] a", "2026-11-21T01:35:58.253 [chief-0] b"] * 2
    assert {stream.key for stream in split_streams(list(enumerate(lines)), detect_style(lines))} == {
        "worker-0",
        "chief-0",
    }
    threads = [line.replace("worker", "Thread").replace("chief", "pool") for line in lines]
    assert detect_style(threads) is None


@pytest.mark.parametrize("time", ["2026-11-21T01:35:58.252+0000", "2026-11-21, 01:35:58 UTC"])
def test_the_lines_of_a_pod_that_airflow_follows(time: str) -> None:
    """A status of several lines is one record again; what Airflow adds below has no prefix."""
    pod = f"[{time}] {{pod_manager.py:471}} INFO - [base] "
    lines = [f"{pod}{text}" for text in ("E a.cc:1] these tasks are unhealthy:", "/job:worker/task:3")]
    (stream,) = split_streams(list(enumerate([*lines, "  raise X"])), detect_style(lines))
    assert [line.removeprefix(f"{time} ") for _, line in stream.lines] == [
        "E a.cc:1] these tasks are unhealthy:", "/job:worker/task:3", "  raise X",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "(pid=12) text",
        "[1,0]<stdout>: text",
        "[worker-1]: text",
        "worker-1: text",
        "worker-1> text",
        "worker-1  | text",
        "worker-1 exited with code 1",
        "algo-2 | text",
        "u4xz9algo-1-fqz6l | text",
        "[2026-03-04T09:12:44] {taskinstance.py:12} INFO - text",
        "The replica worker 1 exited with a non-zero status of 1.",
    ],
)
def test_a_style_that_only_some_lines_have_is_found_by_them(line: str) -> None:
    """A third of the lines with such a prefix shows the style, whatever text it is looked for by."""
    others = ["loading data", "step one done", "saving", "bye"]
    assert detect_style([line, line, *others]) in EMBEDDED_STYLES
    assert detect_style(others) is None


def test_an_algorithm_of_sagemaker_is_a_host_with_a_number() -> None:
    """The first cell of a table is none."""
    assert detect_style(["algorithm | loss", "adam | 0.5", "algo-x | 0.4", "loading data"]) is None
