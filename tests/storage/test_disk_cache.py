"""Compiled things are kept, and a bad copy is never used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.storage.disk_cache import MAX_ENTRIES, cached
from analyzer.storage.package_files import cache_directory
from tests.recordings import ROOT


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "mwms-analyze"


def counting(made: list[str]) -> Callable[[], str]:
    """A maker whose calls are counted."""

    def make() -> str:
        made.append("made")
        return "value"

    return make


def load(content: bytes) -> str:
    """Refuse what was not kept."""
    text = content.decode()
    if not text.startswith("kept "):
        raise ValueError(text)
    return text.removeprefix("kept ")


def ask(key: str, made: list[str]) -> str:
    """Ask for the value of a key."""
    return cached("things", key, counting(made), lambda value: f"kept {value}".encode(), load)


def test_it_is_made_once(cache: Path) -> None:
    """The second call reads what the first one kept."""
    made: list[str] = []
    assert [ask("one", made), ask("one", made)] == ["value", "value"]
    assert made == ["made"]
    assert [path.name for path in cache.iterdir()] == ["things-one"]


def test_a_damaged_copy_is_made_anew(cache: Path) -> None:
    """And replaced."""
    made: list[str] = []
    ask("one", made)
    (cache / "things-one").write_bytes(b"\x80 no text")
    assert ask("one", made) == "value"
    assert ask("one", made) == "value"
    assert made == ["made", "made"]


def test_only_a_few_are_kept(cache: Path) -> None:
    """The oldest of a kind go, those of another kind stay."""
    cached("other", "one", lambda: "x", str.encode, bytes.decode)
    for number in range(MAX_ENTRIES + 3):
        ask(str(number), [])
    assert len(list(cache.glob("things-*"))) == MAX_ENTRIES
    assert (cache / "other-one").exists()
    assert not (cache / "things-0").exists()


def test_a_directory_that_others_can_write_to_is_not_used(cache: Path) -> None:
    """What lies there would be run."""
    cache.mkdir()
    cache.chmod(0o777)
    assert cache_directory() is None
    assert ask("one", []) == "value"
    assert list(cache.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thing is made each time."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert ask("one", []) == "value"


def test_what_the_maker_raises_is_raised_alone(cache: Path) -> None:
    """Without the story of the missing copy before it."""

    def fail() -> str:
        raise RuntimeError("no such rule")

    with pytest.raises(RuntimeError) as caught:
        cached("things", "one", fail, str.encode, load)
    assert caught.value.__context__ is None
    assert list(cache.iterdir()) == []


@pytest.mark.processes
def test_what_one_process_kept_the_next_one_finds(tmp_path: Path) -> None:
    """Whatever the order in which a process goes through sets: else all is compiled anew each time."""
    code = """
from analyzer.ingest.matcher import Matcher
from analyzer.pipeline import load_rules
pack = load_rules()
Matcher(pack.patterns, pack.messages).prefilter
"""
    kept_then = []
    for seed in "123":
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, check=True)
        kept_then.append(sorted(file.name for file in tmp_path.rglob("*-*") if file.is_file()))
    assert len(kept_then[0]) >= 4
    assert kept_then[0] == kept_then[1] == kept_then[2]
