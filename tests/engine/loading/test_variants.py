"""Rules of one cause in one file: what they share is written once, and each loads as if it stood alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.engine import Rule
from analyzer.engine.loading.load import load
from analyzer.model.errors import RuleError

CAUSES = 'peer.killed: {means: "a worker was killed"}\n'
FAMILY = """\
id: killed
role: cause
cause: peer.killed
signals:
  died: {table: lifetimes, where: {signal: 9}, of: subject}
blame: subject
confidence: likely
variants:
  killed:
    title: A worker was killed
    when: died
    summary: "{subject} was killed"
    explains: ["killed-in-training"]
    cases: CASES
  killed-in-training:
    title: A worker was killed in mid-training
    signals:
      trained: {table: lifetimes, where: {phase: training}, of: subject}
    when: died and trained
    confidence: strong
    summary: "{subject} was killed in mid-training"
    cases: CASES
"""
CASES = (
    "[{name: killed, origin: here, given: {exit_codes.txt: worker-0 -9}, expect: {fires: true}},"
    " {name: left, origin: here, given: {exit_codes.txt: worker-0 0}, expect: {fires: false}}]"
)
ALONE = {
    "killed": """\
id: killed
role: cause
cause: peer.killed
title: A worker was killed
signals:
  died: {table: lifetimes, where: {signal: 9}, of: subject}
when: died
blame: subject
confidence: likely
summary: "{subject} was killed"
explains: ["killed-in-training"]
cases: CASES
""",
    "killed-in-training": """\
id: killed-in-training
role: cause
cause: peer.killed
title: A worker was killed in mid-training
signals:
  died: {table: lifetimes, where: {signal: 9}, of: subject}
  trained: {table: lifetimes, where: {phase: training}, of: subject}
when: died and trained
blame: subject
confidence: strong
summary: "{subject} was killed in mid-training"
cases: CASES
""",
}


def loaded(folder: Path, **files: str) -> list[Rule]:
    """The rules of a directory with these files, without the names of the files."""
    folder.mkdir(exist_ok=True)
    (folder / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text.replace("CASES", CASES), encoding="utf-8")
    return [rule._replace(file="") for rule in load([folder]).rules]


def test_a_variant_is_the_rule_that_it_would_be_in_a_file_of_its_own(tmp_path: Path) -> None:
    """Its keys replace shared ones, and its signals stand below the shared ones."""
    family = loaded(tmp_path / "together", killed=FAMILY)
    assert family == loaded(tmp_path / "apart", **ALONE)
    assert [list(rule.signals) for rule in family] == [["died"], ["died", "trained"]]


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("id: killed\n", "id: dead\n", "killed.yaml:1: the id `dead` is not the file's name"),
        ("{signal: 9}", "{sygnal: 9}", "killed.yaml:5: `sygnal` is no column of lifetimes"),
        ("{phase: training}", "{phrase: training}", "killed.yaml:18: `phrase` is no column of lifetimes"),
        ("when: died and trained", "when: died and fell", "killed.yaml:19: `fell` is no signal of this rule"),
        ("    when: died\n", "", "killed.yaml:9: `when` is missing"),
        ("cause: peer.killed", "cause: peer.eaten", "killed.yaml:3: `peer.eaten` is no cause"),
        ("    title: A worker was killed\n", "    id: other\n", "killed.yaml:10: `id` is no key of a rule"),
    ],
)
def test_a_fault_is_named_once_with_the_line_where_it_stands(
    right: str, wrong: str, fault: str, tmp_path: Path
) -> None:
    """In what is shared or in the variant; and no other fault follows from it."""
    assert right in FAMILY
    with pytest.raises(RuleError) as raised:
        loaded(tmp_path, killed=FAMILY.replace(right, wrong, 1))
    (said,) = str(raised.value).splitlines()
    assert said.startswith(f"{tmp_path.name}/{fault}")


def test_an_id_that_another_file_has_is_refused_at_the_variant(tmp_path: Path) -> None:
    """Histories and other rules go by it."""
    with pytest.raises(RuleError) as raised:
        loaded(
            tmp_path,
            a=ALONE["killed"].replace("id: killed", "id: a", 1),
            killed=FAMILY.replace("\n  killed:", "\n  a:"),
        )
    assert (
        str(raised.value)
        == f"{tmp_path.name}/killed.yaml:9: the id `a` is that of {tmp_path.name}/a.yaml too"
    )
