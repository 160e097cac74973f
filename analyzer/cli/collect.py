"""`mwms-collect`: collect a job into a run directory with the tools of its platform, and analyze it."""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from analyzer.cli import analyze
from analyzer.cli.options.configuration import Setting, add_configuration_options, configured, naming_origins
from analyzer.cli.options.printing import as_toml
from analyzer.cli.options.standard import add_command, add_standard_options, command_parser
from analyzer.cli.options.times import seconds
from analyzer.cli.terminal.entrypoint import run_command, write_stdout
from analyzer.collect import cloud, docker, kubernetes, slurm, ssh
from analyzer.collect.commands import COLLECTED_AT, Commands, DryRun, Outcome
from analyzer.model.errors import NothingReadable, UsageError
from analyzer.render.formatting import plural

_DRY = "(dry run) "
"""Mark of what a dry run does not do, as other tools print it."""

Collect = Callable[[Commands, argparse.Namespace], None]

_EPILOG = """examples:
  mwms-collect k8s tfjob/bert -n ml -o run
  mwms-collect k8s -l app=bert -n ml -o run --no-analyze
  mwms-collect slurm 48213 -o run --logs 'logs/*48213*'
  mwms-collect docker bert -o run
  mwms-collect ssh gpu21 gpu22 --path /scratch/bert/logs -o run
  mwms-collect vertex 4711 --region europe-west4 -o run
  mwms-collect sagemaker bert-2026-11-20 --region eu-west-1 -o run

It only reads, with your own kubectl, sacct, scontrol, docker, rsync, ssh, gcloud or aws, and your own rights.
Secrets in environments are masked in what it stores; logs are stored as they are.

exit status: that of mwms-analyze; with --no-analyze or --dry-run
  0    something was collected, or would be
  2    wrong usage
  4    nothing could be collected"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command("mwms-collect", lambda: _configured_run(argv))


def _parser() -> argparse.ArgumentParser:
    description = "Collects a job into a run directory with the tools of its platform, and analyzes it."
    parser = command_parser("mwms-collect", description, _EPILOG)
    add_standard_options(parser)
    places = parser.add_subparsers(required=True, metavar="PLATFORM")
    _add_kubernetes(places)
    _add_slurm(places)
    _add_docker(places)
    _add_ssh(places)
    _add_clouds(places)
    return parser


def _add_platform(
    places: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, collect: Collect
) -> argparse.ArgumentParser:
    """Add the subcommand of a platform, with the options that all platforms share and its examples."""
    shown = re.findall(r"^  (mwms-collect .*)", _EPILOG, re.MULTILINE)
    place = add_command(places, name, collect, text, shown)
    add = place.add_argument
    created = "new directory (default: run)"
    add("-o", "--output", dest="folder", metavar="DIR", type=Path, default=Path("run"), help=created)
    planned = "store nothing: run what lists the job, and print the rest, marked `(dry run)`"
    add("--dry-run", action="store_true", help=planned)
    analyzed = "run mwms-analyze on the directory (default: yes)"
    add("--analyze", action=argparse.BooleanOptionalAction, default=True, help=analyzed)
    add("--timeout", metavar="TIME", default="5m", help="time limit of each command (default: 5m)")
    add_configuration_options(place)
    return place


def _add_kubernetes(places: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add = _add_platform(places, "k8s", "collect a job of Kubernetes with kubectl", _kubernetes).add_argument
    add("job", metavar="KIND/NAME", nargs="?", help="tfjob/bert, job/bert, statefulset/bert, pod/bert-0, …")
    add("name", nargs="?", help=argparse.SUPPRESS)  # the other form that kubectl takes, answered with a hint
    add("-l", "--selector", metavar="LABELS", help="labels of the job's pods, instead of KIND/NAME")
    add("-n", "--namespace", metavar="NAME", help="the namespace (default: that of the context)")
    add("--context", metavar="NAME", help="the context of the kubeconfig")


def _kubernetes(commands: Commands, arguments: argparse.Namespace) -> None:
    if arguments.name:
        kind, name = arguments.job, arguments.name
        raise UsageError(f"{kind} {name}: did you mean {kind}/{name}?")
    scope = _options(arguments, "namespace", "context")
    kubernetes.collect(commands, kubernetes.job_of(arguments.job, arguments.selector, scope))


def _add_slurm(places: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    def collect(commands: Commands, arguments: argparse.Namespace) -> None:
        slurm.collect(commands, arguments.job, arguments.logs)

    text = "collect a job of Slurm with sacct and scontrol"
    add = _add_platform(places, "slurm", text, collect).add_argument
    add("job", metavar="JOB", help="the id of the job, 48213 or 48213_4")
    named = "a pattern for more log files; repeatable"
    add("--logs", metavar="PATTERN", action="append", default=[], help=named)


def _add_docker(places: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    def collect(commands: Commands, arguments: argparse.Namespace) -> None:
        docker.collect(commands, arguments.name)

    place = _add_platform(places, "docker", "collect a project of Docker Compose with docker", collect)
    place.add_argument("name", metavar="PROJECT", help="the project's name, or that of one container")


def _add_ssh(places: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add = _add_platform(places, "ssh", "collect files of several hosts with rsync and ssh", _ssh).add_argument
    add("hosts", metavar="HOST", nargs="+", help="a host name that ssh accepts")
    held = "a file or directory on each host; repeatable"
    add("--path", metavar="PATH", action="append", default=[], help=held)


def _ssh(commands: Commands, arguments: argparse.Namespace) -> None:
    if not arguments.path:
        raise UsageError("give --path PATH: a file or directory on each host")
    ssh.collect(commands, arguments.hosts, arguments.path)


def _add_clouds(places: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    vertex = _add_platform(places, "vertex", "collect a custom job of Vertex AI with gcloud", _vertex)
    vertex.add_argument("job", metavar="JOB", help="the number of the job")
    vertex.add_argument("--region", metavar="NAME", help="the job's region, such as europe-west4")
    vertex.add_argument("--project", metavar="NAME", help="the project (default: that of gcloud)")
    sagemaker = _add_platform(places, "sagemaker", "collect a training job of SageMaker with aws", _sagemaker)
    sagemaker.add_argument("job", metavar="NAME", help="the name of the training job")
    sagemaker.add_argument("--region", metavar="NAME", help="the region (default: that of the profile)")
    sagemaker.add_argument("--profile", metavar="NAME", help="the profile of aws")


def _vertex(commands: Commands, arguments: argparse.Namespace) -> None:
    if not arguments.region:
        raise UsageError("give --region NAME: the job's region, such as europe-west4")
    cloud.collect_vertex(commands, arguments.job, _options(arguments, "project", "region"))


def _sagemaker(commands: Commands, arguments: argparse.Namespace) -> None:
    cloud.collect_sagemaker(commands, arguments.job, _options(arguments, "region", "profile"))


def _options(arguments: argparse.Namespace, *names: str) -> list[str]:
    """Return the given options in the form that the platform's tool takes: `--namespace=ml`."""
    given = {name: getattr(arguments, name) for name in names}
    return [f"--{name}={value}" for name, value in given.items() if value is not None]


def _configured_run(argv: Sequence[str] | None) -> int:
    arguments, settings = configured(_parser(), argv, ())
    with naming_origins(settings):
        return _run(arguments, settings)


def _run(arguments: argparse.Namespace, settings: Mapping[str, Setting]) -> int:
    if arguments.print_config:
        write_stdout(as_toml("collect", settings))
        return 0
    folder: Path = arguments.folder
    if not arguments.dry_run and folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"-o {folder}: exists and is not empty; a run directory holds one job")
    made = DryRun if arguments.dry_run else Commands
    commands = made(folder, partial(_print, folder, set()), timeout=seconds("--timeout", arguments.timeout))
    arguments.command(commands, arguments)
    if not commands.saved or (arguments.dry_run and commands.unanswered):
        if not arguments.dry_run:
            _remove_empty(folder)
        raise NothingReadable("nothing could be collected")
    commands.write_time()
    if lost := commands.list_lost():
        print(f"mwms-collect: logs are missing: see {lost}", file=sys.stderr)
    if arguments.dry_run:
        stored = plural(len(commands.saved), "file")
        write_stdout(
            f"{_DRY}{stored} and {COLLECTED_AT} would be stored in {folder}; commands without this mark ran\n"
        )
    if arguments.dry_run or not arguments.analyze:
        return 0
    write_stdout("\n")
    return analyze.main([str(folder)])


def _remove_empty(folder: Path) -> None:
    """Remove a directory and its subdirectories unless they hold files, so that a second call may use it."""
    for each in [*sorted(folder.rglob("*"), reverse=True), folder]:
        with suppress(OSError):  # it was never created, or something is in it
            each.rmdir()


def _print(folder: Path, printed: set[str], outcome: Outcome) -> None:
    """Print the command of an outcome, with the size of the file; print a new error to standard error.

    A command that a dry run leaves out is marked.

    `printed` holds the errors printed so far, without the tool's name in front; a new one is added.
    """
    if outcome.arguments or outcome.file:
        shown = outcome._replace(file=str(folder / outcome.file)) if outcome.file else outcome
        size = f"  # {outcome.size:,} bytes" if outcome.arguments and outcome.size is not None else ""
        write_stdout(f"{_DRY if outcome.planned else ''}{shown.shell}{size}\n")
    error = outcome.error.removeprefix(f"{next(iter(outcome.arguments), '')}: ")
    if error and error not in printed:
        printed.add(error)
        print(f"mwms-collect: {outcome.error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
