"""An overlay tunes rules without editing them; what it names must be there."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import __version__
from analyzer.engine.loading.load import load
from analyzer.model.errors import RuleError
from analyzer.model.findings import Verdict
from analyzer.pipeline import analyze
from analyzer.storage.package_files import resource
from tests.recordings import ROOT


def overlaid(folder: Path, text: str) -> Path:
    """A directory with nothing but an overlay."""
    (folder / "overlay.yaml").write_text(text, encoding="utf-8")
    return folder


def test_it_switches_off_and_tunes(few_rules: Path, tmp_path: Path) -> None:
    """The other rules stay as they are, and the pack says what was laid over it."""
    plain = {rule.id: rule for rule in load([few_rules]).rules}
    text = "switch_off: [plateau]\nstatus: {straggler: experimental}\nverdict: {nan-loss: degraded}\n"
    pack = load([few_rules, overlaid(tmp_path, text)])
    tuned = {rule.id: rule for rule in pack.rules}
    assert plain.keys() - tuned.keys() == {"plateau"}
    assert (tuned["straggler"].status, tuned["nan-loss"].verdict) == ("experimental", Verdict.DEGRADED)
    assert {id for id in tuned if tuned[id] != plain[id]} <= {"straggler", "nan-loss"}  # noqa: A001
    assert pack.overlay == f"{tmp_path.name}/overlay.yaml"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("switch_off:\n  - plateau\n  - plato\n", 3, "`plato` is no id of a rule; did you mean `plateau`"),
        ("switch_off: plateau\n", 1, "is to be a list"),
        ("status:\n  plateau: perfect\n", 2, "`perfect` is no status"),
        ("verdict: {plato: degraded}\n", 1, "`plato` is no id of a rule"),
        ("verdict: degraded\n", 1, "is to be a mapping"),
        ("severity: {plateau: 3}\n", 1, "`severity` is no key of an overlay"),
        ("status: {plateau: [stable]}\n", 1, "is no status"),
        ("switch_off: [[plateau]]\n", 1, "is to be a text"),
        ("except:\n  plato: {falls: {points: 3}}\n", 2, "`plato` is no id of a rule"),
        ("except:\n  worker-killed:\n    sigkil: {signal: 9}\n", 3, "`sigkil` is no signal of worker-killed"),
        ("except:\n  worker-killed:\n    sigkill: {sygnal: 9}\n", 3, "`sygnal` is no column of lifetimes"),
        ("except: {worker-killed: {sigkill: 9}}\n", 1, "is to be a mapping"),
        ("except: {worker-killed: sigkill}\n", 1, "is to be a mapping"),
        ("except: [worker-killed]\n", 1, "is to be a mapping"),
    ],
)
def test_a_fault_is_named_with_file_and_line(
    text: str, line: int, says: str, few_rules: Path, tmp_path: Path
) -> None:
    """As in a rule."""
    with pytest.raises(RuleError) as raised:
        load([few_rules, overlaid(tmp_path, text)])
    (fault,) = str(raised.value).splitlines()
    assert fault.startswith(f"{tmp_path.name}/overlay.yaml:{line}: ")
    assert says in fault


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("excepted", "cause"),
    [('{worker: "worker:2"}', False), ('{worker: "worker:0"}', True), ("{signal: {above: 9}}", True)],
)
def test_rows_can_be_excepted(excepted: str, cause: bool, tmp_path: Path) -> None:
    """They do not count for the signal; nothing else of the rule changes."""
    text = f"except:\n  worker-killed:\n    sigkill: {excepted}\n"
    pack = load([resource("rules"), overlaid(tmp_path, text)])
    document = analyze([ROOT / "sample_runs" / "worker-killed" / "run"], pack=pack).document
    assert (document["rule"] == "worker-killed") is cause


def test_a_pack_is_named_with_its_version_and_its_digest(few_rules: Path, tmp_path: Path) -> None:
    """Ours carries the version of the program; one that states none is called like its directory."""
    mine, bare = tmp_path / "mine", tmp_path / "bare rules"
    for folder in (mine, bare):
        folder.mkdir()
        overlaid(folder, "switch_off: [plateau]\n")
    (mine / "pack.yaml").write_text('name: our-cluster\nversion: "2026.11"\n', encoding="utf-8")
    before = load([few_rules, mine, bare]).packs
    (mine / "overlay.yaml").write_text("switch_off: [straggler]\n", encoding="utf-8")
    after = load([few_rules, mine, bare]).packs
    assert [pack[:2] for pack in before] == [
        ("mwms-analyze", __version__),
        ("our-cluster", "2026.11"),
        ("bare-rules", None),
    ]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]


@pytest.mark.parametrize("text", ["name: x\n", "name: x\nversion: 2026.11\n", "name: x\nvrsion: 1\n"])
def test_a_pack_that_is_described_wrongly_is_a_fault(text: str, few_rules: Path, tmp_path: Path) -> None:
    """With file and line."""
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RuleError, match=r"pack\.yaml:\d+: "):
        load([few_rules, tmp_path])
