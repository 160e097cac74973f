"""The error of a closure that a coordinator logs, and then raises with its own frames filtered out."""

import pytest

from tests.derive.logs import derived, raised, says

_LOGGED = "ERROR:tensorflow:/job:worker/task:1 encountered the following error when processing closure: "
_REMOTE = "Additional GRPC error information from remote target /job:worker/replica:0/task:1:"
_RAISED = "tensorflow.python.framework.errors_impl."


@pytest.mark.parametrize(
    ("logged", "error", "own"),
    [
        (
            "DataLossError(): corrupted record at 90",
            f"DataLossError: corrupted record at 90\n{_REMOTE}",
            True,
        ),
        ("DataLossError():Graph execution error:", f"DataLossError: corrupted record at 90\n{_REMOTE}", True),
        (
            "DataLossError(): corrupted record at 90",
            f"DataLossError: corrupted record at 8\n{_REMOTE}",
            False,
        ),
        ("DataLossError(): corrupted record at 90", f"NotFoundError: no such graph\n{_REMOTE}", False),
        ("UnavailableError(): Socket closed", f"UnavailableError: Socket closed\n{_REMOTE}", False),
    ],
)
def test_it_is_the_coordinator_s_own_if_a_closure_met_it(logged: str, error: str, *, own: bool) -> None:
    """A remote target below the message is where the closure ran; the loss of a worker stays another's."""
    log = [says(_LOGGED + logged, level="E", kind="python"), raised(_RAISED + error)]
    (row,) = derived({"chief-0.log": log})["exceptions"].to_dicts()
    assert row["own"] is own
