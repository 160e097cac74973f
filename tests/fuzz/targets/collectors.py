"""Logs as they come from launchers, container runtimes and log services."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from tests.fuzz.oracles import forgotten, unsaid
from tests.fuzz.target import Case, Seed, real

MARKS: Mapping[str, Callable[[int, str], str]] = {
    "cri": lambda _, line: f"2026-11-21T01:35:58.252546967Z stdout F {line}",
    "docker": lambda _, line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "x"}),
    "cloud": lambda i, line: json.dumps(
        {"message": line, "resource": {"labels": {"pod_name": f"job-worker-{i}"}}}
    ),
    "fluent": lambda i, line: json.dumps({"log": line, "kubernetes": {"pod_name": f"job-worker-{i}"}}),
    "kubectl": lambda i, line: f"[pod/job-worker-{i}/tensorflow] {line}",
    "mpirun": lambda i, line: f"[1,{i}]<stderr>:{line}",
    "torchrun": lambda i, line: f"[worker{i}]:{line}",
    "compose": lambda i, line: f"trainer-worker-{i}  | {line}",
    "srun": lambda i, line: f"{i}: {line}",
    "unknown": lambda i, line: f"ml/job-worker-{i}[main]~> {line}",
    "logfmt": lambda i, line: f"level=error pod=job-worker-{i} msg={json.dumps(line)} seq=7",
    "grep": lambda i, line: f"logs/job-worker-{i}.log:7:{line}",
    "shipper": lambda i, line: json.dumps(
        {"hostname": f"job-worker-{i}", "level": "INFO", "path": "/x.log", "message": line}
    ),
    "stern": lambda i, line: f"job-worker-{i} tensorflow {line}",
}
"""What each collector makes of a line of the worker with that number."""


LEARNED = ("unknown", "logfmt", "shipper")
"""Marks that are known only by the lines of TensorFlow behind them."""


def seeds() -> Iterable[Seed]:
    """Pairs of real logs, their lines in turn, by each collector."""
    logs = [seed.data.decode(errors="replace").split("\n") for seed in real(Kind.LOG, most=8, largest=12_000)]
    for name, mark in MARKS.items():
        for pair in zip(logs[::2], logs[1::2], strict=True):
            longest = max(map(len, pair))
            turns = [(i, log[n]) for n in range(longest) for i, log in enumerate(pair) if n < len(log)]
            yield Seed(f"{name}.log", "\n".join(mark(i, line) for i, line in turns).encode() + b"\n")


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """As of other logs; but an endless name of a pod leaves out nothing of the line behind it.

    Prefixes that no style knows, and what shippers add, are learned from what TensorFlow began; a file that is
    cut before has none.
    """
    yield from unsaid(case, tables)
    if not case.seed.name.startswith(LEARNED):
        yield from forgotten(case, tables)
