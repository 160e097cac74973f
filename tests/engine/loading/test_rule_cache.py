"""Rules are read again when a file of them is another one, however little it differs."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from analyzer.engine import RulePack, load_cached
from analyzer.engine.loading import load as loading
from analyzer.engine.loading.load import load
from analyzer.engine.loading.rule_cache import load_checked
from analyzer.model.errors import RuleError
from analyzer.storage.yaml_document import Document, read


@pytest.fixture
def rules(few_rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a few of our own, and a cache of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copytree(few_rules, tmp_path / "rules"))


def test_a_rule_of_the_same_length_is_read_again(rules: Path) -> None:
    """Its size tells nothing, and a tool may put back when it was written."""
    rule = load_cached([rules]).rules[0]
    file = next(rules.rglob(Path(rule.file).name))
    written, text = file.stat(), file.read_text()
    assert rule.title in text
    file.write_text(text.replace(rule.title, rule.title.swapcase()))
    os.utime(file, ns=(written.st_atime_ns, written.st_mtime_ns))
    assert file.stat().st_size == written.st_size
    assert load_cached([rules]).rules[0].title == rule.title.swapcase()


def test_a_rule_that_is_added_is_read(rules: Path) -> None:
    """And one that is taken away is gone."""
    file = next(file for file in sorted(rules.rglob("*.yaml")) if file.name != "causes.yaml")
    taken = file.rename(rules.parent / file.name)
    fewer = load_cached([rules])
    taken.rename(file)
    assert len(load_cached([rules]).rules) == len(fewer.rules) + 1


RULE = """\
id: mine
title: A lease was revoked
role: cause
cause: acme.lease_lost
signals: {said: {log: {any_of: ["lease revoked"], example: "E: lease revoked"}, of: subject}}
when: said
blame: subject
explains: [nan-loss]
summary: "{subject} lost its lease"
cases:
  - {name: revoked, origin: written, given: {worker-0.log: "lease revoked"}, expect: {fires: true}}
  - {name: kept, origin: written, given: {worker-0.log: "lease kept"}, expect: {fires: false}}
"""
OF_MINE = {"mine.yaml": RULE, "causes.yaml": "acme.lease_lost: {means: A lease was lost}\n"}


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """Return a directory with these files."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def faults_of(read: Callable[[Sequence[Path]], RulePack], directories: Sequence[Path]) -> list[str]:
    """Return the faults that loading these directories raises."""
    with pytest.raises(RuleError) as raised:
        read(directories)
    return str(raised.value).splitlines()


@pytest.mark.parametrize("more", [{}, {"overlay.yaml": "switch_off: [plateau]\nstatus: {mine: stable}\n"}])
def test_further_rules_are_added_to_those_that_were_loaded(
    more: Mapping[str, str], rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is that of reading all files, of which only the further ones are read."""
    both = [rules, written(tmp_path / "mine", {**OF_MINE, **more})]
    load_cached([rules])
    whole, opened = load(both), list[str]()

    def noting(file: Path, name: str) -> Document:
        opened.append(file.name)
        return read(file, name)

    monkeypatch.setattr(loading, "read", noting)
    assert load_checked(both) == whole
    assert sorted(opened) == sorted(["causes.yaml", "pack.yaml", *OF_MINE, *more])


@pytest.mark.parametrize(
    "wrong",
    [
        {"nan-loss.yaml": RULE.replace("id: mine", "id: nan-loss")},
        {"causes.yaml": OF_MINE["causes.yaml"] + "numeric.nan_loss: {means: Another}\n"},
        {"mine.yaml": RULE.replace("[nan-loss]", "[nan-lost]")},
        {"mine.yaml": RULE.replace("role:", "rolle:")},
        {"overlay.yaml": "switch_off: [plateaux]\nexcept: {nan-loss: {nowhere: {tag: loss}}}\n"},
    ],
)
def test_faults_of_further_rules_are_those_of_reading_all(
    wrong: Mapping[str, str], rules: Path, tmp_path: Path
) -> None:
    """An id or a cause of the first directory is still taken, and its names are still known."""
    both = [rules, written(tmp_path / "mine", {**OF_MINE, **wrong})]
    faults = faults_of(load_checked, both)
    assert faults == faults_of(load, both)
    assert {fault.partition(":")[0] for fault in faults} <= {f"mine/{name}" for name in {**OF_MINE, **wrong}}


def test_a_first_directory_that_needs_the_others_is_read_with_them(rules: Path, tmp_path: Path) -> None:
    """Alone it is wrong; and where an overlay changed its rules, the overlay is applied once."""
    mine = written(tmp_path / "mine", OF_MINE)
    assert "nan-loss" in " ".join(faults_of(load_checked, [mine]))
    assert load_checked([mine, rules]) == load([mine, rules])
    (rules / "overlay.yaml").write_text("switch_off: [plateau]\n")
    assert load_checked([rules, mine]) == load([rules, mine])
