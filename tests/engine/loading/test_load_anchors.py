"""A text of a rule file may be named and used again, by YAML's anchors."""

from __future__ import annotations

from pathlib import Path

from analyzer.engine.loading.load import load
from tests.engine.loading.test_load import CAUSES, RIGHT


def test_a_text_may_be_given_once_and_named_again(tmp_path: Path) -> None:
    """Two workers that say the very same."""
    given = 'given: {worker-0.log: &said "step 1\\n", worker-1.log: *said}'
    text = RIGHT.format(id="mine").replace('given: {exit_codes.txt: "worker-0 0"}', given)
    (tmp_path / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    assert load([tmp_path]).rules[0].cases[1].given == {
        "worker-0.log": "step 1\n",
        "worker-1.log": "step 1\n",
    }
