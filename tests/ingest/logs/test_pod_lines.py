"""What Kubernetes prints about one pod, pasted into a log, is about that pod's worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]

_ABOVE = "it stops after an hour, here is what I have\n"
_EVICTED = "109s  Warning  Evicted  pod/vit-worker-1  Pod ephemeral local storage usage exceeds the total limit of 5Gi.\n"
_NO_IMAGE = (
    "  Normal   Scheduled  9m  default-scheduler  Successfully assigned ml/seg-worker-1 to node-7\n"
    '  Warning  Failed     7m  kubelet            Failed to pull image "reg/seg:2": no basic auth credentials\n'
)
_NO_MOUNT = (
    '3m  Warning  FailedMount  pod/m-worker-2  MountVolume.SetUp failed for volume "d" : mount failed: exit status 32\n'
    "Mounting command: mount\nOutput: mount.nfs: Connection timed out\n"
)
_DESCRIBED = (
    "k describe pod wd-ps-1 | tail -3\n"
    "Status:   Failed\n"
    "Reason:   Evicted\n"
    "Message:  The node was low on resource: memory.\n"
)
_LISTED = (
    "NAME           READY   STATUS      RESTARTS   AGE\n"
    "rec-worker-0   0/1     Error       0          41m\n"
    "rec-worker-1   0/1     OOMKilled   0          41m\n"
)


def _about(text: str, tables_of: TablesOf) -> set[str | None]:
    """Return the workers that the matches of rules in a post are about."""
    return {*tables_of({"post.txt": _ABOVE + text})["matches"]["worker"]}


@pytest.mark.runs
@pytest.mark.parametrize(
    ("text", "worker"),
    [(_EVICTED, "worker:1"), (_NO_IMAGE, "worker:1"), (_DESCRIBED, "ps:1"), (_LISTED, "worker:1")],
)
def test_an_event_is_about_the_pod_that_it_or_the_command_names(
    text: str, worker: str, tables_of: TablesOf
) -> None:
    """Not about the task whose log surrounds it."""
    assert _about(text, tables_of) == {worker}


@pytest.mark.runs
@pytest.mark.parametrize(
    "text",
    [
        "INFO watcher: pod/vit-worker-1 gone, The node was low on resource: memory.\n",
        _DESCRIBED.replace("Reason:   Evicted\n", "step 1 loss 0.5\n"),
        _DESCRIBED.replace("wd-ps-1", "web-front"),
        "INFO probe: rec-worker-1 1/1 ok, but task 7 was OOMKilled\n",
    ],
    ids=["a sentence", "below other text", "a pod of no worker", "a sentence that counts"],
)
def test_other_lines_are_of_the_log(text: str, tables_of: TablesOf) -> None:
    """A sentence that names a pod is no event, and a description ends where other output begins."""
    assert _about(text, tables_of) == {"worker:0"}


@pytest.mark.runs
@pytest.mark.parametrize(("reason", "ended"), [("NodeNotReady", "unknown"), ("FailedMount", "never_started")])
def test_some_events_befall_only_a_pod_that_was_started(reason: str, ended: str, tables_of: TablesOf) -> None:
    """A missing log then does not mean that the worker never ran."""
    events = f"12m  Warning  {reason}  pod/rec-worker-1  a message\n"
    lives = tables_of(
        {"worker-0.log": "step 1 loss 0.5\n", "events.txt": f"LAST SEEN  TYPE  REASON\n{events}"}
    )
    assert lives["lifetimes"].filter(worker="worker:1")["ended"].to_list() == [ended]


@pytest.mark.runs
@pytest.mark.parametrize(
    ("status", "ended"), [("OOMKilled", "unknown"), ("Error", "unknown"), ("ErrImagePull", "never_started")]
)
def test_the_state_of_a_row_tells_whether_the_pod_had_run(
    status: str, ended: str, tables_of: TablesOf
) -> None:
    """Even without a log of its worker."""
    rows = _LISTED.replace("OOMKilled", status)
    lifetimes = tables_of({"post.txt": _ABOVE + rows, "worker-0.log": "step 1 loss 0.5\n"})["lifetimes"]
    of_one = lifetimes.filter(lifetimes["worker"] == "worker:1")
    assert [*of_one["ended"]] == [ended]
