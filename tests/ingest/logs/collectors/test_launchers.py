"""The ranks that launchers print in front of lines, and the lines of schedulers among them."""

from __future__ import annotations

from tests.ingest.logs.collectors.test_turns import streams


def test_lines_of_slurm_among_labelled_ones_are_no_tasks() -> None:
    """However many they are."""
    own = ["srun: error: n1: task 1: Out Of Memory", "slurmstepd: error: Detected 1 oom-kill event(s)"]
    found = streams("\n".join(["0: step 1", "1: step 1", *own, "0: step 2"]))
    assert found == {"0": ["step 1", "step 2"], "1": ["step 1"], None: own}


LSF = ["Sender: LSF System <lsfadmin@m1>", "Subject: Job 7: <bert> in cluster <hpc> Exited", "",
       "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", "    CPU time :  3 sec."]  # fmt: skip


def test_the_report_of_lsf_below_labelled_lines_is_of_no_task() -> None:
    """What the next run appends below it is; and so is the output below a report that stands above it."""
    own = [f"{n % 2}: step {n}" for n in range(80)]
    steps: dict[str | None, list[str]] = {
        str(rank): [f"step {n}" for n in range(rank, 80, 2)] for rank in (0, 1)
    }
    assert streams("\n".join([*own, *LSF])) == {**steps, None: LSF}
    found = streams("\n".join([*own, *LSF, "0: step 80"]))
    assert found == {"0": [*steps["0"], "step 80"], "1": steps["1"], None: LSF}
    mark = "The output (if any) follows:"
    assert streams("\n".join([*LSF, mark, *own])) == {**steps, None: [*LSF, mark]}


def test_the_lines_behind_a_replica_that_ended_are_its_own() -> None:
    """AI Platform quotes a traceback of many lines behind the name."""
    ends = [
        f"The replica worker {n} exited with a non-zero status of 1. Termination reason: Error."
        for n in (0, 4)
    ]
    quoted = [f"  line {n}" for n in range(20)]
    found = streams("\n".join([ends[0], *quoted, ends[1], "KeyError: 'x'"]))
    assert found == {"worker 0": [ends[0], *quoted], "worker 4": [ends[1], "KeyError: 'x'"]}


def test_one_replica_that_ended_names_the_lines_behind_it() -> None:
    """As the status of a job of Vertex AI quotes it."""
    end = (
        'message: "The replica workerpool1-1 exited with a non-zero status of 1. Termination reason: Error. '
    )
    found = streams(f"Training failed with:\ncode: 3\n{end}\nKeyError: 'x'")
    assert found == {None: ["Training failed with:", "code: 3"], "workerpool1-1": [end, "KeyError: 'x'"]}


def test_ranks_of_sagemaker_are_those_of_mpirun() -> None:
    """With the host behind the rank."""
    found = streams("[1,mpirank:3,algo-2]<stderr>:a\n[1,mpirank:0,algo-1]<stdout>:b\n")
    assert found == {"3": ["a"], "0": ["b"]}


def test_one_line_of_mpirun_names_its_rank() -> None:
    """A single line with the prefix of another collector may be the program's own."""
    assert streams("[1,9]<stdout>:KeyError: 'x'") == {"9": ["KeyError: 'x'"]}
    assert {*streams("worker-1: KeyError: 'x'")} == {None}


def test_torchrun_tells_the_local_rank_of_a_line() -> None:
    """Its own lines, which are many in a short log, have none; a logger called `default` is no rank."""
    own = [f"torchrun[7] INFO line {n}" for n in range(4)]
    found = streams("\n".join([*own, "[default1]:a", "[default0]:b", *own, "[default1]:  File"]))
    assert {key: lines for key, lines in found.items() if key} == {"1": ["a", "  File"], "0": ["b"]}
    assert {*streams("[default]: a\n[default]: b\n")} == {None}
