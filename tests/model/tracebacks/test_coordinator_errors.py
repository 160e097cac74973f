"""Errors of ParameterServerStrategy's coordinator are read as those that they quote."""

from __future__ import annotations

import pytest

from analyzer.model.tracebacks.parse import parse


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (
            "cluster_coordinator.ClosureInputError: Input has an error, the original exception is "
            "NotFoundError(), error message is /data/part-1; No such file or directory\n\t [[{{node F}}]].",
            ("NotFoundError", "/data/part-1; No such file or directory\n\t [[{{node F}}]]."),
        ),
        (
            "cluster_coordinator.ClosureAbortedError: Other function has an execution error, as a result, the "
            "current value is not available. The original exception is KeyError('x (1)'), error message is 'x (1)'.",
            ("KeyError", "'x (1)'."),
        ),
        (
            "UploadError: of the original exception is KeyError('x'), error message is 'x'.",
            ("UploadError", "of the original exception is KeyError('x'), error message is 'x'."),
        ),
    ],
    ids=["in the input", "in another function", "words of the user's"],
)
def test_the_error_of_a_coordinator_stands_for_another(error: str, raised: tuple[str, str]) -> None:
    """ParameterServerStrategy raises it for what a function on a worker raised, and quotes that."""
    parsed = parse(f'Traceback (most recent call last):\n  File "/app/t.py", line 7, in <module>\n{error}')
    assert parsed is not None
    assert (parsed.type, parsed.message) == raised
