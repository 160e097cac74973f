"""What mwms-recorder leaves, as its own example recordings hold it, and what a kill or an attacker leaves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.model.run import Tables
from analyzer.pipeline import analyze
from tests.recordings import ROOT

TablesOf = Callable[[Mapping[str, str]], Tables]
RECORDINGS = ROOT / "recorder" / "tests" / "recordings"
START = {"monotonic": 5000.0, "time": 1_766_400_000.0}


def lines(*events: Mapping[str, Any]) -> str:
    """A file of events, one a second."""
    return "".join(
        json.dumps({**event, "time": START["time"] + second, "monotonic": START["monotonic"] + second}) + "\n"
        for second, event in enumerate(events)
    )


def facts(tables: Tables, worker: str) -> dict[str, str]:
    """The last value of each fact about a worker."""
    rows = tables["facts"].filter(tables["facts"]["worker"] == worker)
    return dict(rows.select("key", "value").iter_rows())


def test_the_end_and_its_signal_are_facts(tables_of: TablesOf) -> None:
    """The supervisor saw how the process ended, and who asked for it."""
    sender = {"pid": 1, "uid": 0, "command": "slurmstepd: [77.0]"}
    signal = {"number": 15, "name": "SIGTERM"}
    given = lines(
        {"event": "signal", "signal": signal, "sender": sender},
        {"event": "end", "exit_code": None, "signal": signal},
    )
    told = facts(tables_of({"worker-1/recording.jsonl": given}), "worker:1")
    assert told["exit_code"] == "-15"
    assert told["signal_received"] == "SIGTERM from slurmstepd: [77.0]"


def test_a_kill_for_memory_counts_from_the_start_of_the_command(tables_of: TablesOf) -> None:
    """The group's counter holds what happened before, too."""
    for before, told in ((0, "1"), (1, None)):
        given = lines(
            {"event": "facts", "cgroup": {"memory_events": {"oom_kill": before}}},
            {"event": "end", "exit_code": 137, "signal": None, "cgroup": {"memory_events": {"oom_kill": 1}}},
        )
        found = facts(tables_of({"worker-0/recording.jsonl": given}), "worker:0")
        assert found.get("oom_kill") == told
        assert ("no_oom_kill" in found) == (told is None)


def test_the_weights_of_a_save_are_told_from_others(tables_of: TablesOf) -> None:
    """Those of a step are compared between workers, those of a save with what is restored."""
    weights = {"event": "weights", "step": 3, "variables": [{"name": "kernel:0", "shape": [2], "crc32": 7}]}
    given = lines(weights, {**weights, "saved": True})
    found = tables_of({"worker-1/process-7.jsonl": given})["checksums"]
    assert found["kind"].to_list() == ["weights", "saved_weights"]
    assert found["attempt"].to_list() == [1, 1]


def test_counters_become_rates(tables_of: TablesOf) -> None:
    """Processor seconds of two samples, a second apart."""
    given = lines({"event": "sample", "cpu_seconds": 1.0}, {"event": "sample", "cpu_seconds": 2.5})
    scalars = tables_of({"worker-0/samples.jsonl": given})["scalars"]
    assert scalars.filter(scalars["tag"] == "cpu_percent")["value"].to_list() == [150.0]


def test_a_stall_that_is_over_leaves_no_stacks(tables_of: TablesOf) -> None:
    """Where its threads were tells nothing about the end of the job."""
    frames = [{"file": "/workspace/train.py", "line": 141, "function": "refresh"}]
    stall = {"event": "stall", "steps": 3, "seconds": 60.0, "phase": "other"}
    stacks = {"event": "stacks", "threads": [{"main": True, "frames": frames}]}
    over = {"event": "resumed", "steps": 4, "seconds": 62.0}
    tables = tables_of(
        {
            "worker-0/recording.jsonl": lines(stall, stacks, over),
            "worker-1/recording.jsonl": lines(stall, stacks),
        }
    )
    assert "stands_outside_tensorflow" not in facts(tables, "worker:0")
    assert facts(tables, "worker:1")["stands_outside_tensorflow"] == "refresh (/workspace/train.py:141)"
    assert tables["stalls"].select("worker", "resumed", "frame").rows() == [
        ("worker:0", True, "refresh (/workspace/train.py:141)"),
        ("worker:1", False, "refresh (/workspace/train.py:141)"),
    ]


def test_a_stall_lasts_up_to_the_last_event(tables_of: TablesOf) -> None:
    """A job that hangs until somebody kills it has hung for longer than the recorder's threshold."""
    stall = {"event": "stall", "steps": 3, "seconds": 60.0, "phase": "other"}
    asked = {"event": "reach", "reason": "stall", "targets": []}
    tables = tables_of({"worker-0/recording.jsonl": lines(stall, asked, asked, asked)})
    assert tables["stalls"]["seconds"].to_list() == [63.0]


def test_what_the_recorder_could_not_do_is_damage(tables_of: TablesOf) -> None:
    """Nobody may take the absence of a checksum for equal data."""
    failed = {"event": "recorder_failed", "part": "fingerprint", "error": "ValueError('no')"}
    (damage,) = tables_of({"worker-0/process-7.jsonl": lines(failed)})["damage"]["what"]
    assert damage == "mwms-recorder gave up on fingerprint: ValueError('no')"


def test_the_directory_names_the_worker_and_its_life(tables_of: TablesOf) -> None:
    """`process-412` holds a process id; a restart has the number of the life behind a dot."""
    given = lines({"event": "process", "tensorflow": "2.15.1", "python": "3.11.7"})
    tables = tables_of({"worker-1/process-412.jsonl": given, "worker-1.2/process-977.jsonl": given})
    found = tables["sources"].select("source", "worker", "attempt")
    assert set(found.rows()) == {
        ("worker-1/process-412.jsonl", "worker:1", 1),
        ("worker-1.2/process-977.jsonl", "worker:1", 2),
    }


@pytest.mark.parametrize(
    ("line", "damaged"),
    [
        ('{"event": "end", "time": 5.0, "mono', False),
        ("[1, 2]\n", True),
        ('{"event": "end"}\n', True),
        ('{"event": "sample", "time": 1e400, "monotonic": 1, "resident_bytes": "much"}\n', True),
        ('{"event": "weights", "time": 5.0, "monotonic": 1, "step": 1, "variables": 5}\n', True),
        (
            '{"event": "seed", "time": 5.0, "monotonic": 1, "function": "\\ud800", "value": "\\ud800"}\n',
            False,
        ),
        ('{"event": "of a later version", "time": 5.0, "monotonic": 1}\n', False),
        ("[" * 50_000 + "\n", True),
    ],
)
def test_a_line_that_is_no_event_costs_itself_alone(line: str, damaged: bool, tables_of: TablesOf) -> None:
    """The last line may be cut by a kill; all others were written whole."""
    good = lines({"event": "end", "exit_code": 3, "signal": None})
    tables = tables_of({"worker-0/recording.jsonl": good + line})
    assert facts(tables, "worker:0")["exit_code"] == "3"
    assert tables["damage"].is_empty() != damaged


@pytest.mark.runs
@pytest.mark.parametrize(
    ("recording", "cause", "culprit"),
    [
        ("memory-limit", "resource.host_oom_killed", "worker:1"),
        ("stalled", "hang.collective_stalled", "worker:1"),
        ("stalled-tensorflow-2.4", "hang.collective_stalled", "worker:1"),
    ],
)
def test_a_recorded_job_is_explained(recording: str, cause: str, culprit: str) -> None:
    """The recordings that the recorder's own project holds."""
    document = analyze([RECORDINGS / recording]).document
    assert (document["cause"], document["culprits"]) == (cause, [culprit])


@pytest.mark.parametrize(
    ("oom", "key"), [(1, "killed_at_memory_limit"), (0, "killed_by_host_memory"), (None, None)]
)
def test_a_kill_for_memory_tells_whose_memory(oom: int | None, key: str | None, tables_of: TablesOf) -> None:
    """The group's own limit raises `oom`; version 1 does not count that."""
    events = {"oom_kill": 1} if oom is None else {"oom": oom, "oom_kill": 1}
    given = lines(
        {"event": "facts", "cgroup": {"memory_max_bytes": 2**30, "memory_events": dict.fromkeys(events, 0)}},
        {"event": "end", "exit_code": 137, "signal": None, "cgroup": {"memory_events": events}},
    )
    told = facts(tables_of({"worker-0/recording.jsonl": given}), "worker:0")
    assert {name for name in told if name.startswith("killed_")} == ({key} if key else set())


@pytest.mark.runs
def test_a_job_that_still_hangs_is_said_to_run(tmp_path: Path) -> None:
    """Its recording has no end; the stall lasts up to the last sample."""
    shutil.copytree(RECORDINGS / "stalled", tmp_path / "run")
    for path in tmp_path.rglob("recording.jsonl"):
        kept = [
            line for line in path.read_text().splitlines() if '"end"' not in line and '"signal"' not in line
        ]
        path.write_text("\n".join(kept) + "\n")
    document = analyze([tmp_path / "run"]).document
    assert {worker["ended"]["how"] for worker in document["workers"]} == {"running"}
    assert (document["cause"], document["culprits"]) == ("hang.collective_stalled", ["worker:1"])
    assert any("still running" in why for why in document["why"])


def test_a_job_that_runs_and_does_not_stall_has_not_failed(tables_of: TablesOf) -> None:
    """Its files look like those of one that hangs, but its recorder would have noted a stall."""
    samples = lines(*({"event": "sample", "resident_bytes": 2**30} for _ in range(3)))
    stall = lines({"event": "stall", "steps": 3, "seconds": 60.0, "phase": "other"})
    for recording, runs in (
        (lines({"event": "reach", "reason": "start", "targets": []}), True),
        (stall, False),
    ):
        given = {"worker-0/samples.jsonl": samples, "worker-0/recording.jsonl": recording}
        assert tables_of(given)["job"]["in_progress"].to_list() == [runs]


def readings(tables: Tables) -> dict[str, list[float]]:
    """The values of each tag, in the order of the samples."""
    rows = tables["scalars"].select("tag", "value").rows()
    return {tag: [round(value, 1) for name, value in rows if name == tag] for tag, _ in rows}


def training(second: int, steps: int, compute: int, other: int) -> dict[str, Any]:
    """A sample of a process that has made some steps, the last of them at that second."""
    looks = {"compute": compute, "other": other}
    return {
        "event": "sample",
        "progress": [{"pid": 7, "steps": steps, "last_end": START["monotonic"] + second, "looks": looks}],
    }


def test_looks_at_the_main_thread_become_shares_of_the_time_in_training(tables_of: TablesOf) -> None:
    """Neither the time before the first step counts, nor that after the last one."""
    given = lines(
        *(training(0, 0, 50, 0), training(1, 4, 60, 0), training(2, 8, 64, 16), training(3, 12, 74, 26)),
        training(-1, 13, 74, 90),
    )
    assert readings(tables_of({"worker-0/samples.jsonl": given}))["other_percent"] == [80.0, 50.0]


@pytest.mark.parametrize(("ended", "counted"), [(10.7, False), (14.5, True)])
def test_what_follows_the_last_steps_is_no_training(ended: float, counted: bool, tables_of: TablesOf) -> None:
    """Two steps of 0.35 s, then four seconds of saving and leaving: the interval tells nothing of training."""
    found = [(0, 1, 0, 0), (5, 15, 5, 20), (10, 29, 10, 40), (ended, 31, 11, 64)]
    given = "".join(
        json.dumps(
            {
                "event": "sample",
                "time": START["time"] + at,
                "monotonic": START["monotonic"] + at,
                "progress": [
                    {
                        "pid": 7,
                        "steps": steps,
                        "last_end": START["monotonic"] + last,
                        "looks": {"compute": compute, "other": other},
                    }
                ],
            }
        )
        + "\n"
        for at, (last, steps, compute, other) in zip((0, 5, 10, 15), found, strict=True)
    )
    shares = readings(tables_of({"worker-0/samples.jsonl": given}))["other_percent"]
    assert shares == [80.0, 80.0] + [96.0] * counted


def test_a_send_queue_is_looked_at_more_often_than_a_sample_is_taken(tables_of: TablesOf) -> None:
    """Of four looks and the sample, three met a full queue; recordings without looks have the sample alone."""
    full = {"unsent_bytes": 30_000, "unsent_looks": [0, 20_000, 40_000, 10]}
    for sent, percent in ((full, 60.0), ({"unsent_bytes": 30_000}, 100.0)):
        given = lines(training(0, 1, 10, 0), {**training(1, 5, 20, 0), **sent})
        assert readings(tables_of({"worker-0/samples.jsonl": given}))["sending_percent"] == [percent]


def test_what_arrived_and_was_not_read_is_told_from_what_was_not_sent(tables_of: TablesOf) -> None:
    """A reader that is late fills the queues of both ends."""
    queues = {"unsent_bytes": 30_000, "unsent_looks": [0, 20_000], "unread_looks": [0, 0, 60_000]}
    found = readings(
        tables_of(
            {"worker-0/samples.jsonl": lines(training(0, 1, 10, 0), {**training(1, 5, 20, 0), **queues})}
        )
    )
    assert [round(found[tag][0]) for tag in ("sending_percent", "unread_percent")] == [67, 33]


def test_a_python_generator_has_a_share_of_the_looks(tables_of: TablesOf) -> None:
    """Of the time in training, as the phases of the main thread."""
    samples = [training(second, 4 * second, 10 * second, 0) for second in (1, 2)]
    for sample, looks in zip(samples, (3, 11), strict=True):
        sample["progress"][0]["generator_looks"] = looks
    found = readings(tables_of({"worker-0/samples.jsonl": lines(*samples)}))
    assert found["generator_percent"] == [80.0]


def test_a_wait_for_a_processor_is_a_share_of_the_time_that_was_wanted(tables_of: TablesOf) -> None:
    """Of four seconds that the threads wanted, others had three; and SIGSTOP held the process at two looks of five."""
    given = lines(
        {"event": "sample", "cpu_seconds": 1.0, "cpu_wait_seconds": 2.0},
        {"event": "sample", "cpu_seconds": 2.0, "cpu_wait_seconds": 5.0, "states": {"T": 2, "S": 3}},
    )
    found = readings(tables_of({"worker-0/samples.jsonl": given}))
    assert (found["cpu_wait_percent"], found["stopped_percent"]) == ([75.0], [40.0])


@pytest.mark.parametrize(
    ("options", "size"),
    [
        (["--batch-size", "32"], "32"),
        (["--per-worker-batch", "32", "--per-worker-batch=16"], "16"),
        (["--batch_size_per_replica=64", "--steps", "5"], "64"),
        (["--eval-batch-size", "32", "--global-batch-size", "128", "--batches", "9"], None),
        (["--batch-size", "auto"], None),
    ],
)
def test_a_batch_size_among_the_arguments_is_a_fact(
    options: list[str], size: str | None, tables_of: TablesOf
) -> None:
    """That of one worker; of several, argparse takes the last."""
    start = {"event": "recording", "host": "node-0", "command": ["python", "train.py", *options]}
    assert facts(tables_of({"worker-0/recording.jsonl": lines(start)}), "worker:0").get("batch_size") == size


def test_an_answer_that_does_not_come_is_told_from_one_of_an_older_recorder(tables_of: TablesOf) -> None:
    """A process that is stopped lets the kernel accept connections, and says nothing."""
    target = {"task": "worker:1", "address": "10.0.0.2:2222", "outcome": "open", "own": False, "seconds": 0.5}
    for more, told in (
        ({}, (False, None)),
        ({"answer_seconds": None}, (True, None)),
        ({"answer_seconds": 0.4}, (False, 0.5)),
    ):
        asked = {"event": "reach", "reason": "stall", "targets": [{**target, **more}]}
        reach = tables_of({"worker-0/recording.jsonl": lines(asked)})["reach"]
        assert reach.select("silent", "seconds").rows() == [told]
