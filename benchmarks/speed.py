"""Everything that docs/speed.md says, measured in one go: `python -m benchmarks.speed --inputs DIR`.

Each comparison runs all its commands in turn, `--rounds` times; peers that are not installed are left out.
The figures go to benchmarks/measured.json, and from there to the page and its plots.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from compileall import compile_dir
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import page, peers
from benchmarks.inputs import write_event_files, write_events, write_logs, write_trace
from benchmarks.measure import ROOT, Sample, ratio, spread, together, turns
from benchmarks.rule_packs import write_rules
from benchmarks.styles import STYLES

MEASURED = ROOT / "benchmarks" / "measured.json"
LITERALS = ROOT / "benchmarks" / "literals.txt"
SMALL = ROOT / "sample_runs" / "few-cores" / "run"
"""Two workers with event files and traces, less than a megabyte in all."""
LIBRARIES = "hyperscan, jinja2, polars, regex, stringzilla"
"""All libraries that a small run imports."""
OURS = "mwms-analyze"
MB = 10**6

Commands = dict[str, Sequence[str]]


class Comparison(NamedTuple):
    """Commands on one input, ours first; `goals` are the largest ratios that are aimed at, by peer."""

    make: Callable[[], object]
    """Makes what it reads, where that does not lie there yet."""
    name: str
    group: str
    size: int
    """What grows within the group: bytes, workers or rules."""
    commands: Commands
    goals: Mapping[str, float] = {}
    run: Path | None = None
    """A run of which the stages are timed too."""
    memory_goal: float | None = None
    """The largest memory that is aimed at, in megabytes."""


def main() -> None:
    """Measure, print, and write the page; what is not measured anew keeps its figures."""
    arguments = _arguments()
    compile_dir(ROOT / "analyzer", quiet=1)  # as an installed package lies there
    kept = MEASURED.exists() and (arguments.only or arguments.label)
    found = json.loads(MEASURED.read_text()) if kept else []
    every = comparisons(arguments.inputs.resolve(), arguments.largest, arguments.xprof, arguments.tbparse)
    for one in every:
        if arguments.only in f"{one.group} {one.name}":
            one = _labelled(one, arguments.label)
            row = {**measured(one, arguments.rounds), "machine": _machine(), "rounds": arguments.rounds}
            found = [other for other in found if other["name"] != one.name] + [row]
            MEASURED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    page.write(MEASURED)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, required=True, help="where inputs are made, and found again")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--largest", type=float, default=1e10, help="bytes of the largest logs")
    parser.add_argument("--only", default="", help="measure only what has this in its name")
    parser.add_argument(
        "--label", default="", help="what to call the Python that runs this, if it is another one"
    )
    parser.add_argument("--xprof", default=sys.executable, help="a Python that has the package xprof")
    parser.add_argument("--tbparse", default=sys.executable, help="a Python that has the package tbparse")
    return parser.parse_args()


def _labelled(one: Comparison, label: str) -> Comparison:
    """The comparison; of another Python it has rows of its own."""
    return one._replace(name=f"{one.name}, {label}", group="python") if label else one


def comparisons(inputs: Path, largest: float, xprof: str, tbparse: str) -> Iterator[Comparison]:
    """Everything that is compared; inputs are made when their turn comes."""
    yield from _logs(inputs, largest)
    yield from _styles(inputs, largest)
    yield from _rules(inputs)
    yield _small(inputs)
    yield from _events(inputs, tbparse)
    yield from _traces(inputs, xprof)


def _logs(inputs: Path, largest: float) -> Iterator[Comparison]:
    goals = {1e9: {"rg": 1.0}, 1e10: {"rg": 0.7}}
    for size in (1e7, 1e8, 1e9, 1e10):
        if size <= largest:
            run = inputs / f"chatty-2-{size:.0e}"
            make = partial(write_logs, run, "chatty", 2, int(size))
            memory = 600.0 if size == 1e10 else None
            yield _log(
                make, f"chatty loop, {_size(size)}", "size", int(size), run, goals.get(size, {}), memory
            )
    size = min(1e9, largest)
    for workers in (2, 8, 64, 512, 4_096):
        run = inputs / f"chatty-{workers}-{size:.0e}"
        make = partial(write_logs, run, "chatty", workers, int(size))
        goals_of_many = {"rg": 1.3} if workers == 64 else {}
        yield _log(make, f"{workers} workers, {_size(size)}", "workers", workers, run, goals_of_many)


def _styles(inputs: Path, largest: float) -> Iterator[Comparison]:
    size = min(1e9, largest)
    for number, (style, workers) in enumerate([*((style, 2) for style in STYLES), ("interleaved", 8)]):
        run = inputs / f"{style}-{workers}-{size:.0e}".replace(" ", "-")
        make = partial(write_logs, run, style, workers, int(size))
        goal = 1.5 if style in {"caught tracebacks", "long lines"} else 1.0
        yield _log(make, f"{style}, {_size(size)}", "style", number, run, {"rg": goal})


def _log(
    make: Callable[[], object],
    name: str,
    group: str,
    size: int,
    run: Path,
    goals: Mapping[str, float] | None = None,
    memory: float | None = None,
) -> Comparison:
    commands: Commands = {OURS: _diagnosis(run)}
    if shutil.which("rg"):
        commands["rg"] = ["rg", "-c", "-F", "-f", str(LITERALS), str(run)]
    if shutil.which("grep"):
        commands["grep"] = ["grep", "-r", "-c", "-F", "-f", str(LITERALS), str(run)]
    return Comparison(make, name, group, size, commands, goals or {}, run, memory)


def _diagnosis(run: Path) -> list[str]:
    return [sys.executable, "-m", "analyzer", str(run), "-o", str(run.parent / "report.html")]


def _rules(inputs: Path) -> Iterator[Comparison]:
    run = inputs / "chatty-2-1e+08"
    packs = {count: inputs / f"rules-{count}" for count in (10, 100, 1000)}

    def make() -> None:
        write_logs(run, "chatty", 2, 10**8)
        for count, pack in packs.items():
            write_rules(pack, count)

    for count, others in ((100, 10), (1000, 100)):
        ours, fewer = (
            [sys.executable, "-c", peers.WITH_RULES, str(run), str(packs[n])] for n in (count, others)
        )
        commands: Commands = {OURS: ours, f"{others} rules": fewer}
        yield Comparison(make, f"{count} rules, 100 MB", "rules", count, commands, {f"{others} rules": 1.2})


def _small(inputs: Path) -> Comparison:
    command = [sys.executable, "-m", "analyzer", str(SMALL), "-o", str(inputs / "small.html")]
    commands: Commands = {
        OURS: command,
        "import polars": [sys.executable, "-c", "import polars"],
        "import libraries": [sys.executable, "-c", f"import {LIBRARIES}"],
    }
    return Comparison(
        _nothing,
        "two workers, with event files and traces",
        "small",
        0,
        commands,
        {"import polars": 1.5},
        SMALL,
    )


def _events(inputs: Path, tbparse: str) -> Iterator[Comparison]:
    goals = {"EventAccumulator": 1 / 20, "tbparse": 1 / 50, "RustBoard": 2.0}
    for name, scalars in (("dense", 500_000), ("mixed", 100_000)):
        folder = inputs / f"events-{name}"
        file = folder / "events.out.tfevents.1.x"
        make, path = partial(write_events, file, scalars, mixed=name == "mixed"), str(file)
        commands: Commands = {
            OURS: [sys.executable, "-c", peers.EVENTS, path],
            "EventAccumulator": [sys.executable, "-c", peers.ACCUMULATOR, path],
            "tbparse": [tbparse, "-c", peers.TBPARSE, path],
            "RustBoard": [sys.executable, "-c", peers.RUSTBOARD, path],
        }
        aims = goals if name == "dense" else {}
        yield Comparison(make, f"{scalars:,} scalars, {name}", "events", scalars, commands, aims)

    folder = inputs / "event-files-64"
    yield Comparison(
        partial(write_event_files, folder, 64, 10 * MB),
        "a run of 64 event files, 10 MB each",
        "events",
        10**7,
        {OURS: _diagnosis(folder), "RustBoard": [sys.executable, "-c", peers.RUSTBOARD, str(folder / "x")]},
    )


def _traces(inputs: Path, xprof: str) -> Iterator[Comparison]:
    for size in (1, 30, 300):
        path = inputs / f"trace-{size}" / "long.xplane.pb"
        commands: Commands = {
            OURS: [sys.executable, "-c", peers.TRACE, str(path)],
            "ProfileData": [xprof, "-c", peers.PROFILE_DATA, str(path)],
        }
        goals = {"ProfileData": 0.15} if size == 30 else {}
        memory = 10.0 * size if size == 30 else None
        make = partial(write_trace, path, size * MB)
        yield Comparison(
            make, f"a trace of {size} MB", "traces", size * MB, commands, goals, memory_goal=memory
        )


def _nothing() -> None:
    """The input is there."""


def measured(each: Comparison, rounds: int) -> dict[str, Any]:
    """Run one comparison, print it, and give its figures."""
    each.make()
    commands = {name: command for name, command in each.commands.items() if peers.is_there(name, command[0])}
    samples = turns(commands, rounds)
    all_processes = together(commands[OURS])
    row: dict[str, Any] = {
        "name": each.name,
        "group": each.group,
        "size": each.size,
        "took": {name: _figures(taken) for name, taken in samples.items()},
        "memory": spread([max(one.megabytes, all_processes) for one in samples[OURS]])._asdict(),
        "memory_goal": each.memory_goal,
        "ratios": _ratios(samples, each.goals),
    }
    if each.run:
        row["stages"] = _stages(each.run)
    for line in page.lines(row):
        print(line, flush=True)  # noqa: T201
    return row


def _figures(taken: Sequence[Sample]) -> dict[str, Any]:
    return {
        "seconds": spread([one.seconds for one in taken])._asdict(),
        "cpu": spread([one.cpu for one in taken])._asdict(),
    }


def _ratios(samples: Mapping[str, Sequence[Sample]], goals: Mapping[str, float]) -> dict[str, Any]:
    ours = samples[OURS]
    return {
        name: {
            "seconds": ratio([one.seconds for one in ours], [one.seconds for one in taken])._asdict(),
            "cpu": ratio([one.cpu for one in ours], [max(one.cpu, 0.01) for one in taken])._asdict(),
            "goal": goals.get(name),
        }
        for name, taken in samples.items()
        if name != OURS
    }


def _stages(run: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.stages", str(run)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)  # noqa: S603
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _size(size: float) -> str:
    return f"{size / 1e9:.0f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _machine() -> str:
    """What the figures were measured on, as far as it matters."""
    python = platform.python_version()
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {python}"


if __name__ == "__main__":
    main()
