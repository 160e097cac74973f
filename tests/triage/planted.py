"""Histories made by code: nights of runs, each as if it had been examined."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from random import Random
from typing import NamedTuple

from analyzer.triage.database.history import History, default_history_url, open_history
from analyzer.triage.examine.run_task import ExaminedRun, Host, RunSummary, Task
from analyzer.triage.night_summary import NightSummary, summarize_night

FIRST = datetime(2026, 9, 1, 6, tzinfo=UTC)


class Planted(NamedTuple):
    """One run of one night; `guilty` is one of its hosts, if any is."""

    night: int
    name: str
    hosts: tuple[str, ...]
    cause: str = "healthy"
    guilty: str | None = None
    owner: str = "platform"
    started: float | None = None

    def examined(self) -> ExaminedRun:
        """As the examination of a run would tell it."""
        place = f"/runs/{when(self.night):%Y-%m-%d}/{self.name}"
        healthy = self.cause == "healthy"
        told = RunSummary(
            name=self.name,
            verdict="healthy" if healthy else "failed",
            cause=self.cause,
            rule=None if self.cause == "unknown" else f"{self.cause}-rule",
            owner=self.owner,
            confidence=0.9,
            summary="" if healthy else f"It failed by {self.cause}.",
            fingerprint=sha256(self.cause.encode("utf-8", "backslashreplace")).hexdigest()[:16],
            culprits=("worker:0",) if self.guilty else (),
            started=self.started,
            ended=None if self.started is None else self.started + 600,
            hosts=tuple(Host(each, 1, int(each == self.guilty)) for each in self.hosts),
        )
        stamp = sha256(place.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        return ExaminedRun(
            Task(place, place, stamp), "diagnosed", stamp, told, zlib.compress(b"<!doctype html>")
        )


def when(night: int) -> datetime:
    """When a night begins."""
    return FIRST + timedelta(days=night)


def plant(history: History, runs: Iterable[Planted]) -> str:
    """Write runs into a history, night by night; the date of the last."""
    date = ""
    for night, of_night in groupby(runs, key=lambda run: run.night):
        date = f"{when(night):%Y-%m-%d}"
        history.begin(date, when(night).timestamp())
        history.record(date, ((run.examined(), "reports/x-0123456789.html") for run in of_night))
    return date


def told(folder: Path, runs: Sequence[Planted]) -> NightSummary:
    """How things stand after all of some runs."""
    folder.mkdir(exist_ok=True)
    with open_history(default_history_url(folder)) as history:
        return summarize_night(history, plant(history, runs), len(runs), 0, [])


def sixty_nights(seed: int) -> Iterator[Planted]:
    """One bad machine in 50 random pairings, one failure that comes back, one that is new; a lot that is usual.

    `node-01` is busy: it takes part in every other run, and its partners fail as often as it does.
    """
    chance = Random(seed)
    hosts = [f"node-{n:02d}" for n in range(40)]
    bad, busy = hosts[17], hosts[1]
    nights = sorted(chance.sample(range(60), 50))
    for night in range(60):
        for number in range(8):
            two = chance.sample([each for each in hosts if each != bad], 2)
            if number % 2 and busy not in two:
                two[0] = busy
            fails = chance.random() < 0.3
            cause = chance.choice(["peer.killed", "hang.worker_frozen", "unknown"]) if fails else "healthy"
            yield Planted(night, f"job-{number}", tuple(two), cause, chance.choice(two) if fails else None)
        if night in nights:
            partner = chance.choice([each for each in hosts if each != bad])
            fails = chance.random() < 0.5
            yield Planted(
                night, "pair", (bad, partner), "peer.killed" if fails else "healthy", bad if fails else None
            )
        code = (
            "chief-host",
            chance.choice(hosts[:16]),
        )  # always the same machine, and always its code's fault
        yield Planted(night, "nightly", code, "user.exception", "chief-host", owner="user_code")
        if 10 <= night < 16 or night == 59:
            yield Planted(night, "came-back", (hosts[2], hosts[3]), "data.corrupt_record", None, owner="data")
        if night == 59:
            yield Planted(
                night, "never-seen", (hosts[4], hosts[5]), "numeric.nan_loss", None, owner="user_code"
            )


def many(runs: int, nights: int, seed: int) -> Iterator[Planted]:
    """A long history of a large place."""
    chance = Random(seed)
    hosts = [f"node-{n:03d}" for n in range(400)]
    causes = [f"cause.number_{n}" for n in range(60)]
    for number in range(runs):
        fails = chance.random() < 0.3
        used = tuple(chance.sample(hosts, 4))
        cause = chance.choice(causes) if fails else "healthy"
        yield Planted(number * nights // runs, f"job-{number}", used, cause, used[0] if fails else None)


def told_files(folder: Path) -> dict[str, bytes]:
    """All that a call leaves for people and programs, but for the database."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".sqlite" and not path.name.startswith(".")
    }
