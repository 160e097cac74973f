"""`mwms-train`: run, record and score jobs of the reference trainer."""

from __future__ import annotations

import argparse
import dataclasses
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.cli.entrypoint import run_command
from analyzer.cli.live_table import job_observer
from analyzer.model.errors import UserError
from analyzer.pipeline import load_rules
from analyzer.trainer import catalogue
from analyzer.trainer.jobs import interpreter
from analyzer.trainer.matrix import cells, missing
from analyzer.trainer.record import Recorder
from analyzer.trainer.scoring import holdout_results
from analyzer.trainer.scoring.scoreboard import known_misses_of, score_all, scoreboard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.scoring.scoreboard import Score


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 if a scenario could not be run, 2 for wrong usage."""
    return run_command("mwms-train", lambda: _follow(_parser().parse_args(argv)))


def _follow(args: argparse.Namespace) -> int:
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        status: int = args.command(args)
    finally:
        signal.signal(signal.SIGTERM, before)
    return status


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as `signal` wants it
    """Handle SIGTERM like Ctrl-C, so that the workers are ended too."""
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mwms-train", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="list | run | record | matrix | score")

    def command(name: str, work: Callable[[argparse.Namespace], int], text: str) -> Callable[..., object]:
        parser = commands.add_parser(name, help=text)
        parser.set_defaults(command=work)
        return parser.add_argument

    command("list", _list, "name the scenarios")
    run = command("run", _run, "run a scenario and hand over its run directory")
    run("-o", "--output", type=Path, metavar="DIR", help="the run directory (default: ./SCENARIO)")
    record = command("record", _record, "run scenarios and keep them under sample_runs/")
    home = {"type": Path, "metavar": "DIR", "default": catalogue.SAMPLE_RUNS}
    record("-o", "--output", **home, help="keep them there instead")
    record("--name", help="call the recording so, not like its scenario")
    matrix = command(
        "matrix", _matrix, "record scenarios × versions × guilty × numbers of workers, then score"
    )
    matrix("-o", "--output", type=Path, metavar="DIR", required=True, help="where they are kept")
    matrix("--guilty", type=_numbers, default=(), metavar="INDEX[,INDEX]")
    matrix("--workers", type=_numbers, default=(), metavar="N[,N]")
    matrix("--python", type=Path, action="append", metavar="PATH", help="once for each version")
    matrix("scenarios", nargs="*", metavar="SCENARIO", help="default: all")
    score = command("score", _score, "how the analyzer does on recordings")
    score("home", nargs="?", **home)
    unnamed = "keep what was said of recordings that the file does not name yet"
    score("--first-tries", type=Path, metavar="FILE", help=unnamed)
    for add in (run, record):
        add("scenarios", nargs="+", metavar="SCENARIO", help="a name, or a file *.yaml")
        add("--python", type=Path, default=Path(sys.executable), metavar="PATH")
        add("--guilty-python", type=Path, metavar="PATH", help="another Python for the guilty worker")
        add("--guilty", type=int, metavar="INDEX", help="make another worker guilty")
        add("--stall-timeout", type=int, metavar="SECONDS", help="how long silence may last")
        add("--communication", choices=["auto", "ring", "nccl"], default="auto")
        add("--keep-going", action="store_true", help="a scenario that fails ends nothing")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _list(_: argparse.Namespace) -> int:
    for scenario in catalogue.all_scenarios():
        needs = "  (needs a GPU)" if scenario.needs_gpu else ""
        print(f"{scenario.name:28} {scenario.workers} workers  {scenario.expect['cause']}{needs}")
    return 0


def _run(args: argparse.Namespace) -> int:
    def target(scenario: Scenario) -> Path:
        if args.output and len(args.scenarios) == 1:
            return Path(args.output)
        return (args.output or Path()) / scenario.name

    def run(recorder: Recorder, scenario: Scenario) -> Path:
        recorder.run(scenario, target(scenario))
        return target(scenario)

    return _each(args, run)


def _record(args: argparse.Namespace) -> int:
    def record(recorder: Recorder, scenario: Scenario) -> Path:
        return recorder.record(scenario, args.output / (args.name or scenario.name))

    return _each(args, record)


def _matrix(args: argparse.Namespace) -> int:
    """Record the missing cells, then print how the analyzer scores on all recordings."""
    names = args.scenarios or [scenario.name for scenario in catalogue.all_scenarios()]
    chosen_formats = cells(
        names,
        [interpreter.ask(path) for path in args.python or [Path(sys.executable)]],
        args.guilty,
        args.workers,
    )
    status = 0
    for cell in missing(chosen_formats, args.output):
        print(f"{cell.name}: {cell.scenario.workers} workers", flush=True)
        try:
            with job_observer() as observer:
                Recorder(cell.interpreter, "auto", observer).record(cell.scenario, args.output / cell.name)
        except UserError as error:
            print(f"mwms-train: {error}", file=sys.stderr)
            status = 1
    _print_scores(args.output, score_all(args.output))
    return status


def _score(args: argparse.Namespace) -> int:
    scores = score_all(args.home)
    if args.first_tries:
        new = holdout_results.keep(args.first_tries, scores, load_rules().digest)
        print(f"{args.first_tries}: {len(new)} first tries more\n")
    _print_scores(args.home, scores)
    return 0


def _print_scores(home: Path, scores: Sequence[Score]) -> None:
    print(scoreboard(scores, known_misses_of(home)))


def _each(args: argparse.Namespace, work: Callable[[Recorder, Scenario], Path]) -> int:
    """Run the requested scenarios, one job at a time."""
    scenarios = [catalogue.find_scenario(name, guilty=args.guilty) for name in args.scenarios]
    if args.stall_timeout:
        scenarios = [dataclasses.replace(one, stall_timeout=args.stall_timeout) for one in scenarios]
    other = interpreter.ask(args.guilty_python) if args.guilty_python else None
    own = interpreter.ask(args.python)
    status = 0
    for scenario in scenarios:
        print(f"{scenario.name}: {scenario.workers} workers, TensorFlow {own.tensorflow}")
        try:
            with job_observer() as observer:
                there = work(Recorder(own, args.communication, observer, other), scenario)
            print(f"  handed over: {there}")
        except UserError as error:
            if not args.keep_going:
                raise
            print(f"mwms-train: {error}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
