"""What a diagnosis says agrees with what its files show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer import analyze

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]


def test_an_unusable_model_is_a_failure_though_the_job_ended(make_run: MakeRun) -> None:
    """And the quoted line is the one from which the loss exploded, not one that lacks the number that is said."""
    losses = [2.3, 2.2, 31.0, 9200.5, 310000.0]
    log = "".join(f"step {step} loss {loss}\n" for step, loss in enumerate(losses, 1))
    found = analyze(make_run({"worker-0.log": f"{log}training finished\n"})).diagnosis.document
    assert (found["verdict"], found["cause"]) == ("failed", "numeric.loss_diverged")
    place = next(each for each in found["findings"] if each["rule"] == "loss-diverged")["evidence"][0]
    assert (
        place["says"] == "the loss of worker:0 exploded from here on, up to 3.1e+05; its first value was 2.3"
    )
    assert (place["line"], place["excerpt"]) == (4, "step 4 loss 9200.5")


def test_a_stalled_worker_is_said_to_have_got_less_far(make_run: MakeRun) -> None:
    """Not to have finished fewer steps: it may lack only the beginning of the next one."""
    joined = "I0000 00:00:1795229994.2 7327 coordination_service_agent.cc:245] Coordination agent has successfully connected.\n"
    sigterm = "W0000 00:00:1795230048.3 7534 preemption_notifier.cc:90] SIGTERM caught at 2026-11-21T03:00:48.3+00:00\n"
    ahead = make_run(
        {
            "worker-0.log": f"{joined}step 23 loss 0.5\nstep 24 loss 0.5\n{sigterm}",
            "worker-1.log": f"{joined}step 23 loss 0.5\n{sigterm}",
        }
    )
    found = analyze(ahead).diagnosis.document
    assert (found["cause"], found["culprits"]) == ("hang.collective_stalled", ["worker:1"])
    assert found["why"][1].startswith("worker:1 got less far than the others")
    stalled = next(each for each in found["findings"] if each["rule"] == "collective-stalled")
    assert stalled["evidence"][-1]["says"] == "worker:1 got no further than step 23; all others did"


@pytest.mark.parametrize(
    ("raised", "keys"),
    [
        ("botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the HeadObject operation: expired", True),
        ("PermissionError: [Errno 13] Permission denied: '/mnt/out/x'", False),
    ],
)  # fmt: skip
def test_refused_credentials_are_to_be_renewed(make_run: MakeRun, raised: str, keys: bool) -> None:
    """Those of a store of objects, which has no user and no mount; nobody is compared with where all failed."""
    log = f'Traceback (most recent call last):\n  File "/app/data.py", line 12, in <module>\n    read()\n{raised}\n'
    found = analyze(make_run({"worker-0.log": log, "worker-1.log": log})).diagnosis.document
    assert found["cause"] == "storage.access_denied"
    steps = " ".join(step["text"] for step in found["next"])
    assert ("refused the credentials (ClientError)" in steps) == keys
    assert "compare" not in steps.lower()


def test_a_headline_ends_with_words(make_run: MakeRun) -> None:
    """The stars and quotes that end a line of Slurm or of JSON are not said."""
    said = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-25T23:10:00 DUE TO PREEMPTION ***\n"
    found = analyze(make_run({"slurm-7.out": f"step 1 loss 0.5\n{said}"})).diagnosis.document
    assert found["summary"].endswith("CANCELLED AT 2026-11-25T23:10:00 DUE TO PREEMPTION")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("hello\n", False),
        ("loading\ndone with the data\n", False),
        ("step 1 loss 0.5\n", True),
        ("2026-11-21 01:40:31 hello\n", True),
        ("Segmentation fault (core dumped)\n", True),
        ("Traceback (most recent call last):\n  File 'x'\nKeyError: 1\n", True),
    ],
)
def test_a_text_that_shows_no_job_is_said_to_show_none(make_run: MakeRun, text: str, is_one: bool) -> None:
    """It is read all the same: a program may print little, and its last lines are shown."""
    found = analyze(make_run({"hello.txt": text})).diagnosis.document
    assert found["summary"].startswith("Nothing in the files shows a training job") is not is_one
    assert is_one or found["verdict"] == "inconclusive"
