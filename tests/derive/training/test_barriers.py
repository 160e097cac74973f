"""Where the workers had to meet, and who came."""

from __future__ import annotations

from typing import Any

from tests.derive.logs import Line, cluster_of, derived, says, step, steps
from tests.recordings import Recordings, sample_run_named


def met(name: str, recordings: Recordings) -> dict[str, dict[str, Any]]:
    """Barrier → who arrived and who was awaited, in a recorded run."""
    return {each["barrier"]: each for each in recordings.document(sample_run_named(name))["barriers"]}


def test_all_came_to_every_barrier_of_a_healthy_run(recordings: Recordings) -> None:
    """Its start, its last step and its end."""
    barriers = met("healthy-custom-loop", recordings)
    assert list(barriers) == ["startup", "step", "end"]
    assert barriers["step"]["place"] == "step 60"
    for each in barriers.values():
        assert (each["arrived"], each["awaited"]) == (["worker:0", "worker:1", "worker:2"], [])


def test_who_did_not_come_to_the_last_step_was_awaited(recordings: Recordings) -> None:
    """The others print a step that it does not."""
    step = met("collective-stalled", recordings)["step"]
    assert (step["place"], step["arrived"], step["awaited"]) == (
        "step 18",
        ["worker:0", "worker:2"],
        ["worker:1"],
    )


def test_who_did_not_write_the_last_checkpoint_was_awaited() -> None:
    """Saving needs every worker; where the leader alone prints it, nothing is said of it."""
    logs = {
        f"worker-{n}.log": [
            line
            for number in range(1, last)
            for line in (step(number), saved(f"/ckpt/{'tmp_1/' * n}ckpt-{number}"))
        ]
        for n, last in enumerate([5, 4])
    }
    table = derived(logs)["barriers"]
    rows = [row for row in table.iter_rows(named=True) if row["barrier"] == "checkpoint"]
    assert [(row["worker"], row["place"], row["arrived"], row["line"]) for row in rows] == [
        ("worker:0", "ckpt-4", True, 8),
        ("worker:1", "ckpt-4", False, 6),
    ]
    logs["worker-1.log"] = steps(1, 2)
    assert "checkpoint" not in derived(logs)["barriers"]["barrier"]


def test_a_step_that_is_saved_again_after_a_restart_is_no_later_checkpoint() -> None:
    """Whoever started again wrote step 40 twice; the step counts, not how often it was written."""
    logs = {
        f"worker-{n}.log": [
            line
            for number in [0, 40, 40, 40][:times]
            for line in (step(number + 1), saved(f"/ckpt/model.ckpt-{number}"))
        ]
        for n, times in enumerate([4, 2])
    }
    table = derived(logs)["barriers"]
    rows = [row for row in table.iter_rows(named=True) if row["barrier"] == "checkpoint"]
    assert [(row["worker"], row["place"], row["arrived"]) for row in rows] == [
        ("worker:0", "model.ckpt-40", True),
        ("worker:1", "model.ckpt-40", True),
    ]


def test_the_one_checkpoint_that_one_worker_saves_anew_in_a_loop_is_no_later_one() -> None:
    """TensorFlow numbers it: `ckpt-0` is the same however often its session starts again."""
    logs = {
        f"worker-{n}.log": [step(1), *[saved("/ckpt/model.ckpt-0")] * times] for n, times in enumerate([5, 1])
    }
    rows = derived(logs)["barriers"].filter(barrier="checkpoint")
    assert rows.select("place", "arrived").rows() == [("model.ckpt-0", True), ("model.ckpt-0", True)]


def saved(path: str) -> Line:
    """What a script prints when it has saved."""
    return says(f"saved checkpoint to {path}", facts={"checkpoint": path})


def test_all_wrote_the_checkpoints_of_a_healthy_run(recordings: Recordings) -> None:
    """Under other names of directories, as Keras has it."""
    saved = met("healthy-pauses-fit-tf215", recordings)["checkpoint"]
    assert (saved["place"], saved["arrived"], saved["awaited"]) == (
        "weights-03",
        ["worker:0", "worker:1"],
        [],
    )


def test_who_never_came_to_the_start_was_awaited(recordings: Recordings) -> None:
    """Those that the leader had let in stand there and wait."""
    barriers = met("worker-never-joined", recordings)
    assert list(barriers) == ["startup"]
    assert barriers["startup"]["awaited"] == ["worker:2"]
    assert "worker:0" in barriers["startup"]["arrived"]


def test_of_a_worker_without_files_nothing_is_said() -> None:
    """It ran, or its peers could have made no step; where it was, they do not tell."""
    log = [says("Number of replicas in sync: 2", facts={"replicas": "2"}), *steps(1, 2)]
    table = derived({"worker-0.log": log}, cluster_spec={"worker:0": cluster_of("a:1", "b:1")})["barriers"]
    arrived = table.select("barrier", "worker", "arrived").rows()
    assert ("startup", "worker:1", None) in arrived
    assert ("step", "worker:1", None) in arrived


def test_a_log_that_is_cut_shows_neither_a_missed_start_nor_a_missed_end() -> None:
    """One began before its first line and one went on behind its last; who stopped elsewhere is awaited."""
    whole = [says("Number of replicas in sync: 3", facts={"replicas": "3"}), *steps(1, 2)]
    table = derived({"worker-0.log": [*whole, says("done", facts={"exit_code": "0"})],
                     "worker-1.log": whole, "worker-2.log": [says("Socket closed")]})["barriers"]  # fmt: skip
    came = {(row["barrier"], row["worker"]): row["arrived"] for row in table.iter_rows(named=True)}
    assert [came["startup", f"worker:{n}"] for n in range(3)] == [True, True, None]
    assert [came["end", f"worker:{n}"] for n in range(3)] == [True, None, None]


def test_one_process_meets_nobody() -> None:
    """There are no barriers then."""
    assert not derived({"worker-0.log": steps(1, 2)})["barriers"].height
