"""Rules are read again when a file of them is another one, however little it differs."""

import os
import shutil
from pathlib import Path

import pytest

from analyzer.engine import load_cached


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
