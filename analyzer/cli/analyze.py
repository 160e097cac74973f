"""`mwms-analyze`: the diagnosis of one run, in the terminal and as a report."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from analyzer import __version__
from analyzer.errors import NothingReadable, UsageError, UserError
from analyzer.model import Diagnosis, Verdict
from analyzer.pipeline import analyze, load_rules
from analyzer.render import FORMATS, render

_EXIT_CODES = """exit status:
  0    healthy
  1    failed or degraded, and the cause is known
  2    wrong usage, or a rule file is wrong
  3    failed with an unknown cause, or the files cannot tell
  4    nothing could be read
  70   internal error
  130  interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    # a process that ends needs no rubbish sorted: that took a tenth of a second
    atexit.register(gc.freeze)
    try:
        return _run(_parser().parse_args(argv))
    except UserError as error:
        print(f"mwms-analyze: {error}", file=sys.stderr)
        return 4 if isinstance(error, NothingReadable) else 2
    except KeyboardInterrupt:
        print("mwms-analyze: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:  # noqa: BLE001 - the last place where a mistake of ours can be told from the user's
        traceback.print_exc()
        print(
            "mwms-analyze: this is a mistake of ours; please report it with the lines above", file=sys.stderr
        )
        return 70


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mwms-analyze",
        description="Tells which worker broke a distributed TensorFlow job, why, and what to do.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths", nargs="+", metavar="RUN", help="a run directory, log files, or - for standard input"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE|DIR|-", help="where the report goes; - is standard output"
    )
    parser.add_argument("--format", metavar="F[,F]", help=f"any of {', '.join(FORMATS)}; html by default")
    parser.add_argument(
        "--fail-on",
        choices=("failed", "degraded"),
        default="degraded",
        help="the least verdict that gives a non-zero exit status (default: degraded)",
    )
    parser.add_argument(
        "--rules", metavar="DIR", action="append", default=[], help="another directory of rules"
    )
    parser.add_argument(
        "--redact",
        choices=("secrets", "topology"),
        default="secrets",
        help="what is masked in every output; topology: hosts, addresses and users too (default: secrets)",
    )
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colours in the terminal"
    )
    parser.add_argument("--version", action="version", version=f"mwms-analyze {__version__}")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    formats = _formats(arguments)
    with _inputs(arguments.paths) as paths:
        pack = load_rules([_directory(each) for each in arguments.rules])
        diagnosis = analyze(paths, pack, arguments.redact)
        written = _write(diagnosis, formats, arguments.output, paths)
    if arguments.output != "-":
        _show(diagnosis, arguments.color)
        for path in written:
            print(f"Report: {path}")
    return _status(diagnosis, arguments.fail_on)


def _formats(arguments: argparse.Namespace) -> list[str]:
    given = arguments.format
    if given is None:
        suffix = Path(arguments.output or "").suffix
        by_suffix = [name for name, renderer in FORMATS.items() if suffix and renderer.suffix == suffix]
        return by_suffix or ["text" if arguments.output == "-" else "html"]
    formats = [name.strip() for name in given.split(",") if name.strip()]
    if not formats or set(formats) - FORMATS.keys():
        raise UsageError(f"--format {given}: choose from {', '.join(FORMATS)}")
    return formats


def _directory(name: str) -> Path:
    if not Path(name).is_dir():
        raise UsageError(f"--rules {name}: no such directory")
    return Path(name)


@contextmanager
def _inputs(names: Sequence[str]) -> Iterator[list[Path]]:
    """The paths to analyze; standard input is kept in a temporary file meanwhile."""
    if "-" not in names:
        yield [Path(name) for name in names]
        return
    if len(names) > 1:
        raise UsageError("- stands for standard input and goes alone")
    with tempfile.TemporaryDirectory(prefix="mwms-") as folder:
        path = Path(folder, "stdin.log")
        if not path.write_bytes(sys.stdin.buffer.read()):
            raise NothingReadable("standard input was empty")
        yield [path]


def _write(
    diagnosis: Diagnosis, formats: Sequence[str], output: str | None, inputs: Sequence[Path]
) -> list[Path]:
    """Render and write; the paths that were written, none for standard output."""
    if output == "-":
        if len(formats) > 1:
            raise UsageError("-o - takes one format")
        sys.stdout.write(render(diagnosis.document, formats[0]))
        return []
    name = f"mwms-report-{_safe(str(diagnosis.document['run']['name']))}"
    single = (
        output is not None and not Path(output).is_dir() and not output.endswith("/") and len(formats) == 1
    )
    targets = (
        [Path(output)]
        if single and output
        else [_folder(output, inputs) / f"{name}{FORMATS[f].suffix}" for f in formats]
    )
    for target, each in zip(targets, formats, strict=True):
        _refuse_inside(target, inputs, output)
        _replace(target, render(diagnosis.document, each))
    return targets


def _safe(name: str) -> str:
    return (
        "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip(".-")
        or "run"
    )


def _folder(output: str | None, inputs: Sequence[Path]) -> Path:
    """The directory asked for, else the current one, else the temporary one."""
    if output is not None:
        folder = Path(output)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"-o {output}: {error.strerror}") from error
        return folder
    here = Path.cwd()
    return here if os.access(here, os.W_OK) and not _is_inside(here, inputs) else Path(tempfile.gettempdir())


def _is_inside(path: Path, inputs: Sequence[Path]) -> bool:
    folders = [each.resolve() for each in inputs if each.is_dir()]
    return any(folder == path.resolve() or folder in path.resolve().parents for folder in folders)


def _refuse_inside(target: Path, inputs: Sequence[Path], output: str | None) -> None:
    if _is_inside(target.parent, inputs) or target.resolve() in {each.resolve() for each in inputs}:
        raise UsageError(f"-o {output}: lies inside the run, and nothing is ever written there")


def _replace(target: Path, text: str) -> None:
    """Write all or nothing."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=".mwms-", delete=False
        ) as file:
            file.write(text)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(target)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from error


def _show(diagnosis: Diagnosis, color: str) -> None:
    from analyzer.render.text import terminal

    on_terminal = sys.stdout.isatty()
    colour = color == "always" or (color == "auto" and on_terminal and "NO_COLOR" not in os.environ)
    columns = os.get_terminal_size().columns if on_terminal else 100
    print(terminal(diagnosis.document, colour=colour, width=min(110, max(40, columns))))


def _status(diagnosis: Diagnosis, fail_on: str) -> int:
    if diagnosis.verdict is Verdict.HEALTHY or (
        diagnosis.verdict is Verdict.DEGRADED and fail_on == "failed"
    ):
        return 0
    return 3 if diagnosis.document["cause"] in {None, "unknown"} else 1
