"""Which last words of a script say that it is done."""

import pytest

from tests.derive.logs import derived, says, steps


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("Fertig. Fehlerquote 0,4 Prozent", "finished"),
        ("INFO 27.11.2026 23:29:46  Fertig. Fehlerrate 0,4", "finished"),
        ("Fertig. Fehler 3", "unknown"),
        ("INFO 27.11.2026 23:29:46  Schritt 3 fertig.", "unknown"),
        ("finished, error rate 0.04", "finished"),
        ("finished, error 4", "unknown"),
        ("embeddings trained, 12 epochs", "finished"),
        ("embeddings trained, 2 failed", "unknown"),
    ],
)
def test_an_error_rate_is_a_result_and_no_error(line: str, ended: str) -> None:
    """Nor is the number of epochs behind the word."""
    (life,) = derived({"worker-0.log": [*steps(1, 2), says(line)]})["lifetimes"].to_dicts()
    assert life["ended"] == ended
