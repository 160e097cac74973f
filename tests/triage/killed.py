"""Calls that are killed: each a fork of a process that has loaded everything, so that a kill comes anywhere."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from analyzer.triage import night_summary
from analyzer.triage.database.history import default_history_url
from analyzer.triage.examine.run_task import ExaminedRun, Task, examine
from analyzer.triage.night import TriageOptions, triage
from analyzer.triage.publish import digest, lines, metrics, page

LOADED = (digest, lines, metrics, page, night_summary)


class Alone:
    """Examines in the process that asks."""

    def examined(self, tasks: Iterable[Task]) -> Iterator[ExaminedRun]:
        """What became of each task."""
        return map(examine, tasks)


def main(runs: str, out: str, now: str, kills: str, seconds: str) -> None:
    """Begin a call and kill it, so many times, each after a random part of some seconds."""
    order = TriageOptions([runs], Path(out), default_history_url(Path(out)), float(now))
    chance = Random(20261121)
    for _ in range(int(kills)):
        child = os.fork()
        if not child:
            triage(order, Alone())
            os._exit(0)
        time.sleep(chance.uniform(0, float(seconds)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
