"""Recordings of mwms-recorder."""

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.recordings import ROOT

__all__ = ["seeds", "wrong"]

RECORDINGS = ROOT / "recorder" / "tests" / "recordings"


def seeds() -> Iterable[Seed]:
    """The example recordings that the recorder's project holds."""
    for file in sorted(RECORDINGS.rglob("*.jsonl")):
        yield Seed(file.name, file.read_bytes())
