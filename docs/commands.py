"""Writes `share/` and `recorder/share/`: manual pages and completions of commands, from their parsers."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import shtab
from argparse_manpage.manpage import Manpage

from analyzer import __version__
from analyzer.cli.analyze import _parser as analyze
from analyzer.cli.collect import _parser as collect
from analyzer.cli.options.configuration import subcommands
from analyzer.cli.options.standard import COMPLETIONS
from analyzer.cli.options.triage import parser as triage
from analyzer.cli.rules import _parser as rules
from analyzer.cli.train import _parser as train
from analyzer.render import FORMATS

ROOT = Path(__file__).resolve().parent.parent
SHARE = ROOT / "share"
sys.path.append(str(ROOT / "recorder"))

from mwms_recorder.cli import parser as recorder  # noqa: E402 - a distribution of its own

PARSERS = (analyze, collect, rules, train, triage)
OF_RECORDER = ROOT / "recorder" / "share"
"""The directory of the files for mwms-recorder; no wheel has them."""
FILES, FOLDERS = {"FILE", "FILE|DIR|-", "GOOD_RUN", "PATH", "REPORT", "ROOT", "RUN"}, {"DIR"}
"""Metavars of arguments that name a file, and those of arguments that name a directory."""


def shared() -> dict[Path, str]:
    """Return the files of both directories with their contents."""
    os.environ["COLUMNS"] = "80"
    made: dict[Path, str] = {}
    for make in (*PARSERS, recorder):
        parser = make()
        share = OF_RECORDER if make is recorder else SHARE
        made[share / "man" / "man1" / f"{parser.prog}.1"] = manual(make())
        for each in parsers(parser):
            complete_paths(each)
        for shell, file in COMPLETIONS.items():
            made[share / file.format(parser.prog)] = f"{shtab.complete(parser, shell).rstrip()}\n"
    return made


def parsers(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """Yield a parser, and those of its subcommands."""
    yield parser
    yield from subcommands(parser).values()


def complete_paths(parser: ArgumentParser) -> None:
    """Let shells propose files for the arguments that name some, and formats."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list
        if action.dest == "format":
            action.choices = list(FORMATS)
        if action.metavar in FILES | FOLDERS:
            action.complete = shtab.FILE if action.metavar in FILES else shtab.DIRECTORY  # type: ignore[attr-defined]


def manual(parser: ArgumentParser) -> str:
    """Return the manual page of a command; the parts of its epilog become sections."""
    parts = re.split(r"\n\n(?=[a-z ]+:)", parser.epilog or "")
    parser.epilog = None
    page = Manpage(parser)
    page.date, page.source, page.manual = "", f"mwms-analyze {__version__}", "mwms-analyze"
    name, about = escaped(parser.prog), escaped(str(parser.description).split(". ")[0].rstrip("."))
    text = str(page).replace(f".SH NAME\n{name}\n", f".SH NAME\n{name} \\- {about}\n", 1)
    return f"{text.rstrip()}\n{''.join(map(section, parts))}"


def section(part: str) -> str:
    """Return a part of an epilog, which begins with a heading, as a section with its line breaks."""
    heading, _, body = part.partition(":")
    text = dedent(body.strip("\n")).rstrip()
    return f".SH {heading.upper()}\n.nf\n{escaped(text)}\n.fi\n"


def escaped(text: str) -> str:
    """Return a text without what groff would take for markup."""
    plain = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", plain)
