"""An overlay tunes rules without editing them; what it names must be there."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.engine.load import load
from analyzer.errors import RuleError
from analyzer.model import Verdict
from analyzer.resources import resource


def overlaid(folder: Path, text: str) -> Path:
    """A directory with nothing but an overlay."""
    (folder / "overlay.yaml").write_text(text, encoding="utf-8")
    return folder


def test_it_switches_off_and_tunes(tmp_path: Path) -> None:
    """The other rules stay as they are, and the pack says what was laid over it."""
    plain = {rule.id: rule for rule in load([resource("rules")]).rules}
    text = "switch_off: [plateau]\nstatus: {straggler: experimental}\nverdict: {nan-loss: degraded}\n"
    pack = load([resource("rules"), overlaid(tmp_path, text)])
    tuned = {rule.id: rule for rule in pack.rules}
    assert plain.keys() - tuned.keys() == {"plateau"}
    assert (tuned["straggler"].status, tuned["nan-loss"].verdict) == ("experimental", Verdict.DEGRADED)
    assert {id for id in tuned if tuned[id] != plain[id]} <= {"straggler", "nan-loss"}  # noqa: A001
    assert pack.overlay == f"{tmp_path.name}/overlay.yaml"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("switch_off:\n  - plateau\n  - plato\n", 3, "`plato` is the id of no rule"),
        ("switch_off: plateau\n", 1, "lists ids of rules"),
        ("status:\n  plateau: perfect\n", 2, "`perfect` is none of"),
        ("verdict: {plato: degraded}\n", 1, "`plato` is the id of no rule"),
        ("verdict: degraded\n", 1, "gives ids of rules their verdict"),
        ("severity: {plateau: 3}\n", 1, "`severity` is not known here"),
        ("status: {plateau: [stable]}\n", 1, "is none of"),
        ("switch_off: [[plateau]]\n", 1, "is the id of no rule"),
    ],
)
def test_a_fault_is_named_with_file_and_line(text: str, line: int, says: str, tmp_path: Path) -> None:
    """As in a rule."""
    with pytest.raises(RuleError) as raised:
        load([resource("rules"), overlaid(tmp_path, text)])
    (fault,) = str(raised.value).splitlines()
    assert fault.startswith(f"{tmp_path.name}/overlay.yaml:{line}: ")
    assert says in fault
