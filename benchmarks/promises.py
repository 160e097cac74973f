"""Bounds that hold on any machine: `python -m benchmarks.promises` ends with 1 if one is broken."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from analyzer.engine import RulePack
from analyzer.engine.loading.load import load
from analyzer.model.log_template import template_of
from analyzer.pipeline import analyze
from analyzer.redact import redact
from analyzer.storage.package_files import resource
from benchmarks.inputs import write_logs
from benchmarks.measure import ROOT, sample

_SLOW_RULE = """\
id: mine
title: A line of letters
role: symptom
signals:
  said:
    log: {any_of: ["E: a"], regex: "(a+)+$", example: "E: aaaa"}
when: said
summary: "letters"
cases:
  - {name: "yes", origin: here, given: {worker-0.log: "E: aaaa"}, expect: {fires: true}}
  - {name: "no", origin: here, given: {worker-0.log: "bbbb"}, expect: {fires: false}}
"""
_PIECES = (
    "a",
    "a.",
    "/a",
    "1",
    "1.",
    "a:",
    "a-",
    ".",
    "http://",
    "0x",
    "A",
    "password=",
    "a@",
    "eyJ-.",
    "curl ",
)
"""What a line of many of which makes a careless pattern go back over what it has read."""
_LINE = 40_000
"""Characters of such a line."""


class Promise(NamedTuple):
    """What was measured, and what it may be at most."""

    says: str
    measured: float
    most: float


def promises(folder: Path) -> Iterator[Promise]:
    """Measure everything that is promised."""
    yield Promise("seconds that a regex of minutes adds to a run", _slow_regex(folder), 1.0)
    yield Promise("seconds from Ctrl-C to the end, while 200 MB are read", _interrupt(folder), 1.0)
    for level, most in (("secrets", 0.1), ("topology", 2.0)):
        slowest = max(_quickest(partial(_redacted, piece, level)) for piece in _PIECES)
        yield Promise(f"seconds to mask a line of {_LINE:,} characters, {level}", slowest, most)
    yield Promise("growth of a template's cost where its text grows 16 times", _template_growth(), 60.0)
    few = _of_workers(folder, 8)
    for workers in (64, 512, 4_096):
        says = f"processor time of {workers:,} workers over that of 8, 64 MB in all"
        yield Promise(says, _of_workers(folder, workers) / few, 2.0)


def _slow_regex(folder: Path) -> float:
    run, rules = folder / "slow", folder / "my-rules"
    run.mkdir()
    rules.mkdir()
    (rules / "mine.yaml").write_text(_SLOW_RULE, encoding="utf-8")
    line = "E: " + "a" * 4_000 + "!\n"
    for worker in range(8):
        (run / f"worker-{worker}.log").write_text("step 1 loss 0.5\n" + line * 50, encoding="utf-8")
    pack = load([resource("rules"), rules])
    without: RulePack = pack._replace(rules=tuple(rule for rule in pack.rules if rule.id != "mine"))
    analyze([run], pack=without)
    return _quickest(lambda: analyze([run], pack=pack)) - _quickest(lambda: analyze([run], pack=without))


def _interrupt(folder: Path) -> float:
    run = folder / "large"
    write_logs(run, "chatty", 2, 200_000_000)
    command = [sys.executable, "-m", "analyzer", str(run), "-o", str(folder / "report.html")]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        time.sleep(0.4)
        began = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait()
        return time.perf_counter() - began


def _redacted(piece: str, level: str) -> object:
    return redact({"why": [piece * (_LINE // len(piece)) + " password"]}, level)  # type: ignore[arg-type]


def _template_growth() -> float:
    def seconds(piece: str, length: int) -> float:
        return _quickest(lambda: template_of(piece * (length // len(piece))))

    return max(seconds(piece, 80_000) / seconds(piece, 5_000) for piece in _PIECES)


def _of_workers(folder: Path, workers: int) -> float:
    run = folder / f"workers-{workers}"
    write_logs(run, "chatty", workers, 64_000_000)
    command = [sys.executable, "-m", "analyzer", str(run), "-o", str(folder / "report.html")]
    return min(sample(command).cpu for _ in range(2))


def _quickest(work: Callable[[], object]) -> float:
    """Processor seconds of a call, the least of three."""
    times = []
    for _ in range(3):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times)


def main() -> int:
    """Print each promise with its bound; return 1 if one is broken."""
    broken = 0
    with TemporaryDirectory() as folder:
        for promise in promises(Path(folder)):
            kept = promise.measured <= promise.most
            broken += not kept
            says = f"{promise.measured:8.3f} of {promise.most:g}  {promise.says}"
            print(f"{'kept' if kept else 'BROKEN':7}{says}", flush=True)  # noqa: T201
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
