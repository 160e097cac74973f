"""Makes the parsers of commands and subcommands, with examples in their help and the shared options."""

import os
from argparse import Action, ArgumentParser, HelpFormatter, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from analyzer import __version__
from analyzer.cli.options.choices import choice_hint
from analyzer.model.errors import UsageError
from analyzer.storage.extensions import READERS, RULES, extensions
from analyzer.storage.package_files import resource

COMPLETIONS = {
    "bash": "bash-completion/completions/{}",
    "fish": "fish/vendor_completions.d/{}.fish",
    "zsh": "zsh/site-functions/_{}",
}
"""Shell → file below `share/` with the completion of a command."""
_ADDED = {RULES: "rules", READERS: "reader"}
"""Group of an installed extension → what it adds, as `--version` prints it."""


class _PrintVersion(Action):
    """Prints the versions and exits; installed packages are looked up only then."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        print(f"{parser.prog} {__version__}")
        for each in (*extensions(RULES), *extensions(READERS)):
            print(f"{each.title} ({_ADDED[each.group]} {each.name})")
        parser.exit()


class _PrintCompletion(Action):
    """Prints the completion of the command for a shell and exits."""

    def __call__(self, parser: ArgumentParser, _: object, shell: object, *__: object) -> None:
        file = resource("share", COMPLETIONS[str(shell)].format(parser.prog))
        print(file.read_text(encoding="utf-8"), end="")
        parser.exit()


class _Parser(ArgumentParser):
    """Parser whose errors are one line, as all other errors of a command."""

    def _check_value(self, action: Action, value: object) -> None:
        """Raise a `UsageError` if a value is none of the choices of an option."""
        if action.option_strings and action.choices is not None and value not in action.choices:
            hint = choice_hint(str(value), action.choices)
            raise UsageError(f"{action.option_strings[-1]} {value}: {hint}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError`."""
        raise UsageError(message.removeprefix("argument "))


def command_parser(prog: str, description: str | None, epilog: str) -> ArgumentParser:
    """Return a parser without options, whose help keeps the line breaks of its description and epilog."""
    return _Parser(prog, description=description, epilog=epilog, formatter_class=_help_formatter)


def _help_formatter(prog: str) -> HelpFormatter:
    """Return a help formatter as wide as the terminal, without the slow import of argparse's default."""
    given = os.environ.get("COLUMNS", "")
    columns = int(given) if given.isdecimal() else 0
    if not columns:
        with suppress(OSError):  # not a terminal
            columns = os.get_terminal_size(1).columns
    return RawDescriptionHelpFormatter(prog, width=(columns or 80) - 2)


def add_standard_options(parser: ArgumentParser) -> None:
    """Add `--version` and `--print-completion` to a command."""
    add = parser.add_argument
    printed = "print the completion for a shell and exit"
    add("--print-completion", action=_PrintCompletion, choices=sorted(COMPLETIONS), help=printed)
    add("--version", action=_PrintVersion, nargs=0, help="print the version and exit")


def add_command(
    commands: Any,  # noqa: ANN401 - argparse keeps its type private
    name: str,
    work: Callable[..., int | None],
    text: str,
    lines: Sequence[str],
) -> ArgumentParser:
    """Add the subcommand `name`, which calls `work`; its help has those example `lines` that call it."""
    made: ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=examples(*(line for line in lines if line.split()[1] == name)),
        formatter_class=RawDescriptionHelpFormatter,
    )
    made.set_defaults(command=work)
    return made


def examples(*lines: str) -> str:
    """Return command lines as the section of a help text that shows examples."""
    return "\n  ".join(["examples:" if len(lines) > 1 else "example:", *lines])
