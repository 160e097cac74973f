"""What Slurm's accounting says, in the forms in which `sacct` prints it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.pipeline import analyze

MakeRun = Callable[[Mapping[str, str]], Path]
TablesOf = Callable[[Mapping[str, str]], Tables]

LOGS = {
    "worker-0.log": "step 11 loss 0.5\nstep 12 loss 0.5\n",
    "worker-1.log": "step 11 loss 0.5\nstep 12 loss 0.5\n",
}


def table(widths: Mapping[str, int], *rows: str) -> str:
    """Columns as `sacct` prints them: to the right but for the first, and what is too long is cut with a plus."""
    lines = [list(widths), ["-" * width for width in widths.values()], *(row.split("|") for row in rows)]
    return "\n".join(" ".join(map(cell, line, widths.values())) for line in lines) + "\n"


def cell(text: str, width: int) -> str:
    """One cell; that of the JobID stands to the left."""
    cut = text if len(text) <= width else text[: width - 1] + "+"
    return cut.ljust(width) if width == 12 else cut.rjust(width)


DEFAULT = table(
    {"JobID": 12, "JobName": 10, "Partition": 10, "Account": 10, "AllocCPUS": 10, "State": 10, "ExitCode": 8},
    "48213|mnist|gpu|ai|16|OUT_OF_MEMORY|0:125",
    "48213.batch|batch||ai|8|FAILED|1:0",
    "48213.extern|extern||ai|16|COMPLETED|0:0",
    "48213.0|python||ai|16|OUT_OF_MEMORY|0:125",
)
FORMATTED = table(
    {"JobID": 12, "State": 40, "ExitCode": 8, "MaxRSS": 10, "NodeList": 15},
    "48213|CANCELLED by 10021|0:0||gpu-a[01-02]",
    "48213.batch|CANCELLED|0:15|2204032K|gpu-a01",
    "48213.0|FAILED|0:9|33554432K|gpu-a[01-02]",
)
NAMED = table(
    {"JobID": 12, "JobName": 10, "State": 10, "ExitCode": 8},
    "101|worker-0|FAILED|1:0",
    "101.batch|batch|FAILED|1:0",
    "101.0|python|FAILED|0:9",
    "102|worker-1|RUNNING|0:0",
    "102.0|python|RUNNING|0:0",
    "103|worker-2|PENDING|0:0",
)
PARSABLE = """\
JobID|JobName|State|ExitCode|MaxRSS|NodeList
48213|train|NODE_FAIL|1:0||gpu-a[01-02]
48213.0|worker-0|FAILED|1:0|4194304K|gpu-a01
48213.1|worker-1|FAILED|137:0|8388608K|gpu-a02
"""


def number(value: int) -> dict[str, Any]:
    """A number as newer versions of Slurm write it."""
    return {"set": True, "infinite": False, "number": value}


def code(value: int, signal: int) -> dict[str, Any]:
    """An exit code as Slurm 23.11 writes it."""
    return {
        "status": ["SIGNALED"],
        "return_code": number(value),
        "signal": {"id": number(signal), "name": "X"},
    }


JSON = {
    "meta": {"plugin": {"type": "openapi/dbv0.0.39"}},
    "jobs": [
        {
            "array": {"job_id": 0, "task_id": {"set": False, "number": 0}},
            "exit_code": code(0, 125),
            "job_id": 48213,
            "name": "mnist",
            "nodes": "gpu-a[01-02]",
            "state": {"current": ["OUT_OF_MEMORY"], "reason": "None"},
            "steps": [
                {
                    "exit_code": code(0, 9),
                    "nodes": {"count": 2, "range": "gpu-a[01-02]", "list": ["gpu-a01", "gpu-a02"]},
                    "state": ["OUT_OF_MEMORY"],
                    "step": {"id": "48213.0", "name": "python"},
                    "tres": {
                        "requested": {
                            "max": [{"type": "cpu", "count": 7}, {"type": "mem", "count": 34359738368}]
                        }
                    },
                }
            ],
        }
    ],
}


def told(tables: Tables, name: str) -> list[tuple[str | None, str, str, int]]:
    """Worker, key, value and line of each fact of one file."""
    own = tables["facts"].filter(tables["facts"]["source"] == name)
    return own.select("worker", "key", "value", "line").rows()


def test_a_step_of_all_tasks_is_nobodys(tables_of: TablesOf) -> None:
    """States that the column cuts are told in full; Slurm's mark for memory is no signal."""
    facts = told(tables_of({**LOGS, "sacct.txt": DEFAULT}), "sacct.txt")
    assert facts == [
        (None, "job_state", "OUT_OF_MEMORY", 3),
        (None, "step_state", "FAILED", 4),
        (None, "step_exit_code", "1", 4),
        (None, "step_state", "COMPLETED", 5),
        (None, "step_exit_code", "0", 5),
        (None, "step_state", "OUT_OF_MEMORY", 6),
    ]


def test_columns_of_ones_own_choice(tables_of: TablesOf) -> None:
    """Who cancelled, memory, signals and hosts."""
    facts = told(tables_of({**LOGS, "sacct.txt": FORMATTED}), "sacct.txt")
    assert (None, "cancelled_by", "10021", 3) in facts
    assert (None, "step_exit_code", "-15", 4) in facts
    assert {key: value for _, key, value, line in facts if line == 5} == {
        "step_state": "FAILED",
        "step_exit_code": "-9",
        "max_rss": "33554432K",
        "nodes": "gpu-a[01-02]",
    }


def test_steps_that_are_named_after_workers_are_theirs(tables_of: TablesOf) -> None:
    """With exit code as a shell writes it, and host."""
    tables = tables_of({**LOGS, "sacct.txt": PARSABLE})
    facts = told(tables, "sacct.txt")
    assert (None, "job_state", "NODE_FAIL", 2) in facts
    assert ("worker:1", "exit_code", "-9", 4) in facts
    assert ("worker:1", "host", "gpu-a02", 4) in facts
    codes = tables["lifetimes"].select("worker", "exit_code").rows()
    assert codes == [("worker:0", 1), ("worker:1", -9)]


def test_jobs_that_are_named_after_workers_are_theirs(tables_of: TablesOf) -> None:
    """A step tells more than the script around it; what runs has no code yet, and what waits has none."""
    facts = told(tables_of({**LOGS, "sacct.txt": NAMED}), "sacct.txt")
    codes = [fact for fact in facts if fact[1].endswith("exit_code")]
    assert codes == [("worker:0", "exit_code", "-9", 5), ("worker:1", "exit_code", "running", 7)]


def test_one_name_of_a_worker_tells_nothing(tables_of: TablesOf) -> None:
    """A whole job may be called `task-7`."""
    text = "JobID|JobName|State|ExitCode\n9|task-7|FAILED|1:0\n9.0|python|FAILED|1:0\n"
    tables = tables_of({**LOGS, "sacct.txt": text})
    assert {worker for worker, *_ in told(tables, "sacct.txt")} == {None}
    assert tables["workers"]["worker"].to_list() == ["worker:0", "worker:1"]


def test_a_file_of_one_worker_is_its(tables_of: TablesOf) -> None:
    """As its name says."""
    text = "JobID|JobName|State|ExitCode\n9.0|python|FAILED|7:0\n"
    facts = told(tables_of({**LOGS, "sacct-worker-1.txt": text}), "sacct-worker-1.txt")
    assert ("worker:1", "exit_code", "7", 2) in facts


@pytest.mark.parametrize(
    "row",
    [
        "48213_4.0|python|gpu|8|FAILED|3:0|00:10:31",
        "48213+1.0  python  gpu  8  FAILED  3:0  00:10:31",
        "48213.0,python,gpu,8,FAILED,3:0",
        "JobID   State ExitCode\n----- ------- --------\n 48213.0    FAILED       3:0",
    ],
)
def test_a_row_that_fits_no_header(row: str, tables_of: TablesOf) -> None:
    """Or out of line with it: what its words look like is enough."""
    facts = told(tables_of({**LOGS, "sacct.txt": row + "\n"}), "sacct.txt")
    line = 1 + row.count("\n")
    assert facts == [(None, "step_state", "FAILED", line), (None, "step_exit_code", "3", line)]


@pytest.mark.parametrize("indent", [None, 2])
def test_json(indent: int | None, tables_of: TablesOf) -> None:
    """As Slurm 23 writes it; each row has its line."""
    text = json.dumps(JSON, indent=indent)
    facts = told(tables_of({**LOGS, "sacct.json": text}), "sacct.json")
    assert [fact[:3] for fact in facts] == [
        (None, "job_state", "OUT_OF_MEMORY"),
        (None, "step_state", "OUT_OF_MEMORY"),
        (None, "max_rss", "34359738368"),
        (None, "step_exit_code", "-9"),
        (None, "nodes", "gpu-a[01-02]"),
    ]
    lines = text.split("\n")
    assert '"job_id": 48213' in lines[facts[0][3] - 1]
    assert '"id": "48213.0"' in lines[facts[1][3] - 1]


def test_json_of_older_versions(tables_of: TablesOf) -> None:
    """Numbers and states stood alone then."""
    old = {
        "jobs": [
            {
                "job_id": 7,
                "array": {"job_id": 5, "task_id": 2},
                "state": {"current": "TIMEOUT", "reason": "None"},
                "exit_code": {"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 15}},
                "steps": [{"step": {"job_id": 7, "step_id": "batch", "name": "b"}, "state": "CANCELLED"}],
            }
        ]
    }
    facts = told(tables_of({**LOGS, "sacct.json": json.dumps(old)}), "sacct.json")
    assert [fact[1:3] for fact in facts] == [
        ("job_state", "TIMEOUT"),
        ("job_exit_code", "-15"),
        ("step_state", "CANCELLED"),
    ]


SCONTROL = """\
JobId=48213 JobName=bert
   UserId=nobody(99) GroupId=nogroup(99) Priority=1 Nice=0 Account=(null)
   JobState=NODE_FAIL Reason=NodeDown Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=1:0
   NodeList=node[1-2] NumNodes=2
"""


@pytest.mark.parametrize("text", [SCONTROL, " ".join(SCONTROL.split()), SCONTROL.replace(" ", "\n")])
def test_scontrol_tells_the_state_of_the_job(text: str, tables_of: TablesOf) -> None:
    """On several lines, with `--oneliner`, and as `mwms-collect` breaks it."""
    facts = tables_of({**LOGS, "scontrol.job": text})["facts"]
    told = facts.filter(facts["source"] == "scontrol.job").select("key", "value").rows()
    assert sorted(told) == [("job_exit_code", "1"), ("job_state", "NODE_FAIL")]


@pytest.mark.parametrize(
    ("name", "text", "what", "line"),
    [
        (
            "sacct.txt",
            DEFAULT + "sacct: error: slurmdbd: Connection refused\n",
            "a line that is no row of sacct",
            7,
        ),
        ("sacct.txt", "\x00\x01|||\n\n-- --\nJobID|State\n|\nx|y\n", "3 lines that are no row of sacct", 1),
        ("sacct.txt", DEFAULT + "-" * 99_999 + "x\n", "a line that is no row of sacct", 7),
        ("sacct.json", '{"jobs": [\n{"job_id": 1},\n', "is not JSON as sacct writes it", 3),
        ("sacct.json", "{" * 100_000, "is not JSON as sacct writes it", 1),
        ("sacct.json", '{"jobs": 5}', "holds no list of jobs", None),
        ("sacct.json", '{"jobs": [5, {}, {"job_id": {"set": true}}]}', "is no job", None),
    ],
)
def test_what_cannot_be_understood_is_said(
    name: str, text: str, what: str, line: int | None, tables_of: TablesOf
) -> None:
    """With its line where there is one; the rest is read."""
    tables = tables_of({**LOGS, name: text})
    damage = tables["damage"].filter(tables["damage"]["source"] == name).select("what", "line").rows()
    assert line in [where for said, where in damage if what in said]
    assert "reader failed" not in "".join(tables["sources"]["reason"].to_list())


@pytest.mark.runs
def test_rules_see_its_words(make_run: MakeRun) -> None:
    """What stands between the rows of accounting is read like any line."""
    text = (
        DEFAULT
        + "slurmstepd: error: *** STEP 48213.0 ON n1 CANCELLED AT 2026-11-21T02:08:30 DUE TO TIME LIMIT ***\n"
    )
    assert analyze([make_run({**LOGS, "sacct.txt": text})]).document["cause"] == "scheduler.time_limit"


def test_a_file_of_another_name_is_known_by_its_header(make_run: MakeRun) -> None:
    """No log begins like this."""
    run = make_run({"accounting": PARSABLE, "jobs.tab": DEFAULT, "notes": "JobID was 48213\n"})
    kinds = {source.name: source.kind for source in discover([run]).sources}
    assert kinds == {"accounting": Kind.SACCT, "jobs.tab": Kind.SACCT, "notes": Kind.OTHER}
