"""What each device for speed gives: the same command with it and without it, in turn.

`python -m benchmarks.machinery RUN [RUN …]`. Prints the ratio of processor and of wall seconds, without over
with: what is not above 1.05 on any run is not worth its lines.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.measure import ratio, turns

ROUNDS = 11
_CALL = "import sys; from analyzer.__main__ import process; {without}; sys.exit(process())"
_FORKED = "import analyzer.ingest.scan.scan_plan as it; it.LARGE_LOG_BYTES = 1 << 60"
_TABLES = "import analyzer.ingest.tensorboard.event_files as it; it.TABLE_FILE_BYTES = 1 << 60"
DEVICES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "garbage is collected rarely (`__main__`)": ("import gc; gc.set_threshold(700, 10, 10)", {}),
    "no teardown of the interpreter (`cli/analyze.py`)": (
        "from analyzer.cli.analyze import main; sys.exit(main())",
        {},
    ),
    "one thread of polars for small runs (`cli/polars_threads.py`)": (
        "",
        {"POLARS_MAX_THREADS": str(os.cpu_count())},
    ),
    "rules, literals, regexes, templates in a disk cache": ("", {"XDG_CACHE_HOME": "/dev/null"}),
    "forked readers of large logs (`scan/fork_pool.py`)": (_FORKED, {}),
    "tables of event records (`tensorboard/record_tables.py`)": (_TABLES, {}),
}
"""Device → code that takes it away, and environment that does."""


def main() -> None:
    """Measure every device on every run."""
    for run in map(Path, sys.argv[1:]):
        print(f"{run}\n")  # noqa: T201
        for name, (code, variables) in DEVICES.items():
            cpu, wall = _gain(run, code, variables)
            print(f"  {name:62} CPU {cpu}   wall {wall}", flush=True)  # noqa: T201


def _gain(run: Path, code: str, variables: Mapping[str, str]) -> tuple[object, object]:
    """Ratios of seconds, without a device over with it."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(run), "-o", f"{folder}/report.html"]
        environment = [f"{key}={value}" for key, value in variables.items()]
        python = ["env", *environment, sys.executable, "-c"]
        taken = turns(
            {
                "with": [sys.executable, "-c", _CALL.format(without="pass"), *arguments],
                "without": [*python, _CALL.format(without=code or "pass"), *arguments],
            },
            ROUNDS,
        )
    pairs = (
        [(one.cpu, one.seconds) for one in taken["without"]],
        [(one.cpu, one.seconds) for one in taken["with"]],
    )
    cpu, wall = (ratio([each[at] for each in pairs[0]], [each[at] for each in pairs[1]]) for at in (0, 1))
    return cpu, wall


if __name__ == "__main__":
    main()
