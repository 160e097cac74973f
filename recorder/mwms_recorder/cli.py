"""Parses and runs the command line: `mwms-recorder run -o DIR -- COMMAND …`."""

from __future__ import annotations

import argparse
import sys

from mwms_recorder import __version__
from mwms_recorder.settings import PARTS, Settings


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    shown = "example:\n  mwms-recorder run -o run -- python train.py"
    about = "Flight recorder for TensorFlow jobs."
    top = argparse.ArgumentParser("mwms-recorder", description=about, epilog=shown, formatter_class=raw)
    top.add_argument("--version", action="version", version="%(prog)s " + __version__)
    run = top.add_subparsers(dest="action", required=True).add_parser(
        "run", help="run a command and record it", epilog=shown, formatter_class=raw
    )
    below = "directory of the run; each task writes into its own below it"
    run.add_argument("-o", "--out", metavar="DIR", required=True, help=below)
    run.add_argument(
        "--task", help="name of this task (default: from TF_CONFIG, the launcher's rank, or the host)"
    )
    run.add_argument(
        "--off", action="append", default=[], choices=PARTS, help="turn a part off; may be repeated"
    )
    run.add_argument("--interval", type=float, default=5.0, help="seconds between samples (default: 5)")
    stalled = "minimum seconds without a step that count as a stall (default: 60)"
    run.add_argument("--stall", type=float, default=60.0, help=stalled)
    run.add_argument(
        "--check-weights",
        type=int,
        default=0,
        metavar="N",
        help="checksum the weights every N steps and at saves",
    )
    run.add_argument(
        "--weights-mib", type=int, default=64, help="checksum at most so many MiB of weights (default: 64)"
    )
    run.add_argument(
        "--fingerprint-data", action="store_true", help="record digests of the first batches of each worker"
    )
    run.add_argument(
        "--check-finite",
        action="store_true",
        help="find the first batch, and under fit the first own loss of each worker, with NaN or infinity",
    )
    run.add_argument("command", nargs=argparse.REMAINDER, help="the command, after --")
    return top


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, and end with the exit status or signal of the recorded command."""
    given = vars(parser().parse_args(arguments))
    given.pop("action")
    command = given.pop("command")
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        parser().error("no command was given after --")
    from mwms_recorder.outside import launch

    if launch.serves_notebooks(command):
        sys.exit("mwms-recorder: a notebook's kernel outlives the jobs that it runs; record a script")
    launch.supervise(Settings(**given), command)
