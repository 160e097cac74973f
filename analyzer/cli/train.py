"""Runs, breaks and records jobs of the reference trainer, and scores their diagnoses."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.cli.options.standard import add_command, add_standard_options, command_parser, examples
from analyzer.cli.terminal.entrypoint import interrupted_by_sigterm, run_command
from analyzer.cli.terminal.live_table import SilentObserver, job_observer
from analyzer.model.errors import UsageError, UserError
from analyzer.pipeline import load_rules
from analyzer.trainer import catalogue
from analyzer.trainer.gpus.shares import require_gpus
from analyzer.trainer.jobs import interpreter
from analyzer.trainer.jobs.programs import UserProgram
from analyzer.trainer.jobs.rank import Rank
from analyzer.trainer.jobs.sandbox.leftovers import remove_leftovers
from analyzer.trainer.jobs.workloads import program_of
from analyzer.trainer.matrix import cells, missing, record_cell
from analyzer.trainer.record import Recorder, run_program
from analyzer.trainer.scoring import holdout_results, matrix_results
from analyzer.trainer.scoring.scoreboard import known_misses_of, score_all, scoreboard
from analyzer.trainer.task import run_task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.jobs.programs import Program
    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.scoring.scoreboard import Score

    Add = Callable[..., object]
    """`add_argument` of one command's parser."""
    Work = Callable[[Scenario, JobObserver], Path]

ENDED = 128 + signal.SIGTERM
"""Exit status of a task that its scheduler stopped with SIGTERM."""

_EXAMPLES = (
    "mwms-train list",
    "mwms-train run worker-killed -o broken",
    "mwms-train record worker-killed --guilty 1",
    "mwms-train worker worker-killed --shared /shared/runs",
    "mwms-train matrix -o /data/matrix --guilty 0,1 worker-killed nan-loss",
    "mwms-train score sample_runs",
)

_SCENARIO_OPTIONS = ("stall_timeout", "after", "recorder", "shared_gpus")
"""Options that replace the value of the same name in a scenario."""

_PYTHON = "Python to run the workers with (default: this one)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 if a scenario could not be run, 2 for wrong usage."""
    return run_command("mwms-train", lambda: _follow(_parser().parse_args(argv)))


def _follow(args: argparse.Namespace) -> int:
    with interrupted_by_sigterm():
        status: int = args.command(args)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("mwms-train", __doc__, examples(*_EXAMPLES))
    add_standard_options(parser)
    commands = parser.add_subparsers(required=True, metavar="list | run | record | worker | matrix | score")

    def command(name: str, work: Callable[[argparse.Namespace], int], text: str) -> Add:
        return add_command(commands, name, work, text, _EXAMPLES).add_argument

    command("list", _list, "list the scenarios")
    run = command("run", _run, "run scenarios and keep their run directories")
    run("-o", "--output", type=Path, metavar="DIR", help="the run directory (default: ./SCENARIO)")
    record = command("record", _record, "run scenarios and keep them under sample_runs/")
    home = {"type": Path, "metavar": "DIR", "default": catalogue.SAMPLE_RUNS}
    record("-o", "--output", **home, help="directory of the recordings (default: sample_runs/)")
    record("--name", help="name of the recording (default: that of the scenario)")
    worker = command("worker", _worker, "run one task of a scenario, as a scheduler starts it on each host")
    _add_worker(worker)
    recorded = "record scenarios with each Python, guilty worker and number of workers, then score"
    matrix = command("matrix", _matrix, recorded)
    _add_matrix(matrix)
    score = command("score", _score, "compare the diagnoses of recordings with their truth")
    score("home", nargs="?", **home)
    unnamed = "add the answers on recordings that the file does not name yet"
    score("--first-tries", type=Path, metavar="FILE", help=unnamed)
    _add_shared(run, record, worker, matrix)
    return parser


def _add_worker(add: Add) -> None:
    add("scenario", metavar="SCENARIO", help="a name, or a file *.yaml")
    shared = "a directory that all hosts share; DIR/SCENARIO gets the run"
    add("--shared", type=Path, required=True, metavar="DIR", help=shared)
    add("--rank", type=Rank.given, metavar="INDEX/COUNT", help="this task, where no launcher says it")
    add("--host", help="this host's address for the others (default: that of its route)")
    add("--python", type=Path, default=Path(sys.executable), metavar="PATH", help=_PYTHON)


def _add_matrix(add: Add) -> None:
    add("-o", "--output", type=Path, metavar="DIR", required=True, help="directory of the recordings")
    add("--guilty", type=_numbers(0), default=(), metavar="INDEX[,INDEX]", help="the guilty workers to try")
    add("--workers", type=_numbers(1), default=(), metavar="N[,N]", help="the numbers of workers to try")
    add("--python", type=Path, action="append", metavar="PATH", help="a Python for the workers; repeatable")
    state = "result of each recording (default: DIR/matrix.csv)"
    add("--state", type=Path, metavar="FILE", help=state)
    only = "skip what that file names, even if it was refused"
    add("--only-missing", action="store_true", help=only)
    add("--gpu", action="store_true", help="run the scenarios that need GPUs instead of the others")
    add("scenarios", nargs="*", metavar="SCENARIO", help="default: all, without or with --gpu")


def _add_shared(run: Add, record: Add, worker: Add, matrix: Add) -> None:
    """Add the options that several commands have."""
    for add in (run, worker):
        add("--program", type=shlex.split, metavar="COMMAND", help="your own program instead")
        start = "directory of that program; each worker gets a copy"
        add("--directory", type=Path, default=Path(), metavar="DIR", help=start)
    for add in (run, record, matrix):
        add("--guilty-python", type=Path, metavar="PATH", help="Python to run the guilty worker with")
    for add in (run, record, worker, matrix):
        add("--recorder", action="store_true", help="run the workers under mwms-recorder")
    for add in (run, record, matrix):
        add("--shared-gpus", action="store_true", help="let workers share GPUs where there are too few")
    for add in (run, record):
        add("scenarios", nargs="+", metavar="SCENARIO", help="a name, or a file *.yaml")
        add("--python", type=Path, default=Path(sys.executable), metavar="PATH", help=_PYTHON)
        add("--workers", type=_number(1), metavar="N", help="number of workers")
        add("--keep-going", action="store_true", help="continue after a scenario that failed")
    how = "how gradients are exchanged; nccl needs GPUs (default: auto)"
    silence = "stop a job that prints nothing for this long (default, and for the first line: 20 or more)"
    for add in (run, record, worker):
        add("--guilty", type=_number(0), metavar="INDEX", help="index of the guilty worker")
        add("--after", type=_number(1), metavar="SECONDS", help="strike after this time instead of at a step")
        add("--communication", choices=["auto", "ring", "nccl"], default="auto", help=how)
    for add in (run, record, worker, matrix):
        add("--stall-timeout", type=_number(1), metavar="SECONDS", help=silence)


def _number(least: int) -> Callable[[str], int]:
    """Return an argparse type for integers of at least `least`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return parse


def _numbers(least: int) -> Callable[[str], list[int]]:
    """Return an argparse type for comma-separated integers of at least `least`."""
    return lambda text: [_number(least)(part) for part in text.split(",")]


def _list(_: argparse.Namespace) -> int:
    for scenario in catalogue.all_scenarios():
        needs = "  (needs a GPU)" if scenario.needs_gpu else "  (needs Slurm)" if scenario.needs_slurm else ""
        print(f"{scenario.name:28} {scenario.workers} workers  {scenario.expect['cause']}{needs}")
    return 0


def _run(args: argparse.Namespace) -> int:
    def target(scenario: Scenario) -> Path:
        if args.output and len(args.scenarios) == 1:
            return Path(args.output)
        return Path(args.output or "") / scenario.name

    def run(scenario: Scenario, recorder: Recorder) -> Path:
        recorder.run(scenario, target(scenario))
        return target(scenario)

    def run_own(scenario: Scenario, observer: JobObserver) -> Path:
        program = UserProgram(tuple(args.program), args.directory.resolve())
        run_program(scenario, program, observer, target(scenario))
        return target(scenario)

    return _run_each(args, run_own) if args.program else _run_each(args, _with_recorder(args, run))


def _worker(args: argparse.Namespace) -> int:
    """Run one task of a job; its rank comes from `--rank` or the scheduler. Return its exit status."""
    rank = args.rank or Rank.found(os.environ)
    scenario = _changed(args, catalogue.find_scenario(args.scenario, guilty=args.guilty, workers=rank.count))
    program: Program = UserProgram(tuple(args.program or ()), args.directory.resolve())
    if not args.program:
        python = interpreter.ask(args.python)
        program = program_of(scenario, dict.fromkeys(range(rank.count), python), args.communication)
    try:
        return run_task(scenario, rank, program, SilentObserver(), args.shared.resolve(), args.host)
    except KeyboardInterrupt:  # the scheduler says so itself
        return ENDED


def _record(args: argparse.Namespace) -> int:
    def record(scenario: Scenario, recorder: Recorder) -> Path:
        return recorder.record(scenario, args.output / (args.name or scenario.name))

    for path in filter(None, (args.python, args.guilty_python)):
        interpreter.ask(path).require_import()
    return _run_each(args, _with_recorder(args, record))


def _with_recorder(args: argparse.Namespace, work: Callable[[Scenario, Recorder], Path]) -> Work:
    """Return `work` with a recorder that uses the requested Python installations."""
    own, other = interpreter.ask(args.python), _guilty_python(args)
    print(f"TensorFlow {own.tensorflow}" + (f" ({other.tensorflow} on the guilty worker)" if other else ""))
    return lambda scenario, observer: work(scenario, Recorder(own, args.communication, observer, other))


def _guilty_python(args: argparse.Namespace) -> Interpreter | None:
    return interpreter.ask(args.guilty_python) if args.guilty_python else None


def _matrix(args: argparse.Namespace) -> int:
    """Record the missing matrix cells and print the scores on all recordings; return 1 if a cell failed."""
    if args.gpu:
        require_gpus()
    pythons = [interpreter.ask(path) for path in args.python or [Path(sys.executable)]]
    for python in pythons:
        python.require_import()
    every = catalogue.all_scenarios()
    here = [one.name for one in every if one.needs_gpu == args.gpu and not one.needs_slurm]
    names = args.scenarios or here
    wanted = cells(names, pythons, args.guilty, args.workers)
    remove_leftovers()
    state = args.state or args.output / matrix_results.NAME
    tried = matrix_results.load(state) if args.only_missing else ()
    other, status = _guilty_python(args), 0
    for cell in missing(wanted, args.output, tried):
        print(f"{cell.name}: {cell.scenario.workers} workers", flush=True)
        with job_observer() as observer:
            asked = dataclasses.replace(cell, scenario=_changed(args, cell.scenario))
            result = record_cell(asked, observer, args.output, other)
        matrix_results.append(state, result)
        if result.refused:
            print(f"mwms-train: {result.refused}", file=sys.stderr)
            status = 1
    _print_scores(args.output, score_all(args.output))
    return status


def _score(args: argparse.Namespace) -> int:
    scores = score_all(args.home)
    if not scores:
        raise UsageError(f"{args.home}: no recordings there (DIR/NAME with run/ and expected.json)")
    if args.first_tries:
        new = holdout_results.keep(args.first_tries, scores, load_rules().digest)
        print(f"{args.first_tries}: {len(new)} first tries more\n")
    _print_scores(args.home, scores)
    return 0


def _print_scores(home: Path, scores: Sequence[Score]) -> None:
    print(scoreboard(scores, known_misses_of(home)))


def _run_each(args: argparse.Namespace, work: Work) -> int:
    """Run `work` on each requested scenario, one at a time; return 1 if any failed."""
    scenarios = [_chosen(args, name) for name in args.scenarios]
    remove_leftovers()
    status = 0
    for scenario in scenarios:
        print(f"{scenario.name}: {scenario.workers} workers")
        try:
            with job_observer() as observer:
                folder = work(scenario, observer)
            print(f"  run directory: {folder}")
        except UserError as error:
            if not args.keep_going:
                raise
            print(f"mwms-train: {error}", file=sys.stderr)
            status = 1
    return status


def _chosen(args: argparse.Namespace, name: str) -> Scenario:
    """Return the named scenario, changed by the options on the command line."""
    return _changed(args, catalogue.find_scenario(name, guilty=args.guilty, workers=args.workers))


def _changed(args: argparse.Namespace, scenario: Scenario) -> Scenario:
    """Return a scenario with the values of the options that are given."""
    changes = {name: getattr(args, name, None) for name in _SCENARIO_OPTIONS}
    return dataclasses.replace(scenario, **{key: value for key, value in changes.items() if value})


if __name__ == "__main__":
    sys.exit(main())
