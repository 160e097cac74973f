"""Options of a command from the command line, `MWMS_*` variables, a configuration file, and defaults.

Each of these takes precedence over those after it. The command's parser checks the values of all of them.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import SUPPRESS, Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.cli.options.choices import choice_hint, nearest
from analyzer.cli.options.printing import toml_value
from analyzer.model.errors import UsageError

FILE = "mwms.toml"
COMMANDS = ("analyze", "collect", "rules", "triage")
"""Tables of a configuration file, one for each command that reads it."""
_ONE_CALL = {
    "help", "version", "config", "print_config", "print_completion",
    "paths", "verify", "job", "name", "hosts", "folder", "dry_run", "run", "id",
    "group", "until", "note", "ticket", "mute", "clear",
}  # fmt: skip
"""Options that are given on the command line only."""
_GIVEN, _DEFAULT = "command line", "default"
"""Origins of options that neither a variable nor a file gives."""
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


class Setting(NamedTuple):
    """The value of an option, and its origin: `command line`, a variable, `FILE:LINE` or `default`."""

    value: Any
    origin: str


def add_configuration_options(parser: ArgumentParser) -> None:
    """Add `--config` and `--print-config` to a command."""
    searched = f"options as TOML (default: {FILE} here, else ~/.config/mwms/{FILE})"
    parser.add_argument("--config", metavar="FILE", help=searched)
    shown = "print each option with its value and origin as TOML, and exit"
    parser.add_argument("--print-config", action="store_true", help=shown)


def configured(
    parser: ArgumentParser,
    argv: Sequence[str] | None,
    inputs: Iterable[str],
    tables: Sequence[str] = (),
    sibling: ArgumentParser | None = None,
) -> tuple[Namespace, dict[str, Setting]]:
    """Return the options in effect as a namespace, and name → setting with the origin of each.

    `inputs` are the arguments that name runs. `tables` are tables of strings, such as `owners`, which only a
    file can give. The subcommands of a command share its table in the file, and each ignores the options of
    the others; `sibling` is a separate parser that shares the table too.

    Raises:
        UsageError: an option is unknown, or a variable or the file is wrong.
    """
    called, words = _called(parser, list(sys.argv[1:] if argv is None else argv))
    actions = _actions(called)
    given, unknown = called.parse_known_intermixed_args(words, Namespace(**dict.fromkeys(actions)))
    if unknown:
        raise _unknown_argument(called, unknown[0])
    _require_no_empty(called, words)
    settings = {name: Setting(called.get_default(name), _DEFAULT) for name in (*actions, *tables)}
    sharing = [*subcommands(parser).values(), *([sibling] if sibling else [])]
    known = {name: each for one in sharing for name, each in _actions(one).items()}
    found = _from_environment(known | actions)
    if file := _file(given.config, _texts(given, inputs), parser.prog):
        command = parser.prog.split()[0].removeprefix("mwms-")
        found = _from_file(file, command, known | actions, tables) | found
    settings |= {name: setting for name, setting in found.items() if name in settings}
    settings |= {
        name: Setting(value, _GIVEN) for name in actions if (value := getattr(given, name)) not in (None, [])
    }
    values = {name: setting.value for name, setting in settings.items()}
    return Namespace(**vars(given) | values), settings


@contextmanager
def naming_origins(settings: Mapping[str, Setting]) -> Iterator[None]:
    """Put the file and line, or the variable, in front of an error about an option that comes from there.

    An error about a field of AnalysisOptions becomes one about the option of that name.
    """
    try:
        yield
    except UsageError as error:
        if str(error).partition(":")[0] in settings:
            error = UsageError(f"--{error}")
        configured = {name: each for name, each in settings.items() if each.origin not in {_GIVEN, _DEFAULT}}
        about = (each.origin for name, each in configured.items() if _is_about(name, each.value, str(error)))
        if origin := next(about, None):
            raise UsageError(f"{origin}: {error}") from None
        raise error from None


def _is_about(name: str, value: object, error: str) -> bool:
    """Return True if an error begins with an option or with its value."""
    values = value if isinstance(value, list) else [value]
    option = f"--{name.replace('_', '-')}"
    return error.startswith((f"{option} ", f"{option}: ", *(f"{each}: " for each in values)))


def subcommands(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Return name → parser of a command's subcommands; empty if it has none."""
    found = (each.choices for each in parser._actions)  # noqa: SLF001 - argparse has no public list
    return next((dict(each) for each in found if isinstance(each, dict)), {})


def _called(parser: ArgumentParser, words: list[str]) -> tuple[ArgumentParser, list[str]]:
    """Return the parser of the called subcommand, or `parser` if it has none, with the arguments for it."""
    commands = subcommands(parser)
    if not commands:
        return parser, words
    if not (words and words[0] in commands):
        parser.parse_args(words)  # prints help, version or an error, and exits
    return commands[words[0]], words[1:]


def _unknown_argument(called: ArgumentParser, word: str) -> UsageError:
    """Return the error for an argument that the command does not take, with the option most like it."""
    name, options = word.partition("=")[0], called._option_string_actions  # noqa: SLF001 - no public list
    near = nearest(name, options, 0.6) if name.startswith("--") else None
    return UsageError(f"unknown argument {word}; " + (f"did you mean {near}?" if near else "see --help"))


def _require_no_empty(called: ArgumentParser, words: Sequence[str]) -> None:
    """Reject an empty argument, as `mwms-analyze "$RUN"` passes one where RUN is not set.

    Raises:
        UsageError: one is empty; the message names it.
    """
    positional = next((each.metavar for each in called._actions if not each.option_strings), None)  # noqa: SLF001
    for before, word in zip(["", *words], words, strict=False):
        name = word.removesuffix("=") if re.fullmatch(r"--[\w-]+=", word) else before
        if word == "" or name != before:
            name = name if name.startswith("-") else str(positional)
            raise UsageError(f"{name} is empty; if a variable should fill it, the variable is not set")


def _texts(given: Namespace, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        value = getattr(given, name, None)
        yield from value if isinstance(value, list) else [str(value)] if value else []


def _actions(parser: ArgumentParser) -> dict[str, Action]:
    """Return the options that a variable or a file can give."""
    found = parser._actions  # noqa: SLF001 - argparse has no public list of its options
    return {each.dest: each for each in found if each.dest not in _ONE_CALL and each.help != SUPPRESS}


def _file(named: str | None, inputs: Iterable[str], command: str) -> Path | None:
    """Return the configuration file: the named one, else that of the current directory, else the user's."""
    if named or (named := os.environ.get("MWMS_CONFIG")):
        return Path(named)
    here = Path(FILE)
    if os.access(here, os.R_OK) and not _is_beside_input(here, inputs, command):
        _require_owner(here)
        return here
    user = Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "mwms", FILE)  # noqa: PTH111
    return user if os.access(user, os.R_OK) else None  # another user's home may be out of reach


def _is_beside_input(file: Path, inputs: Iterable[str], command: str) -> bool:
    """Return True, and warn, if the file lies in a run: a run must not configure its own analysis."""
    folder = file.resolve().parent
    places = [Path(each).resolve() for each in inputs if each != "-" and "://" not in each]
    inside = any(
        place in (folder, *folder.parents) or (place.parent == folder and place.is_file()) for place in places
    )
    if inside:
        print(
            f"{command}: {file}: not read because it is inside the run; name it with --config",
            file=sys.stderr,
        )
    return inside


def _require_owner(file: Path) -> None:
    state = file.stat()
    if state.st_uid not in {0, os.getuid()} or state.st_mode & 0o002:
        raise UsageError(f"{file}: another user can change it; name it with --config to use it")


def _from_environment(actions: Mapping[str, Action]) -> dict[str, Setting]:
    settings = {}
    for variable, text in sorted(os.environ.items()):
        if not variable.startswith("MWMS_") or not text:
            continue
        name = variable.removeprefix("MWMS_").lower()
        if name in actions:
            value = _parsed(variable, text, actions[name])
            settings[name] = Setting(_checked(actions[name], value, f"{variable} = {text}"), variable)
        elif near := nearest(name, actions, 0.8):  # other programs use MWMS_ too
            raise UsageError(f"{variable}: unknown option; did you mean MWMS_{near.upper()}?")
    return settings


def _parsed(variable: str, text: str, action: Action) -> object:
    """Convert the text of an environment variable to a bool, a list or a text, as a file would give it."""
    if action.nargs == 0:
        return True if text.lower() in _TRUE else False if text.lower() in _FALSE else text
    if not _is_list(action):
        return text
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{variable}: {error}") from error


def _from_file(
    path: Path, command: str, actions: Mapping[str, Action], tables: Sequence[str]
) -> dict[str, Setting]:
    """Return the options in a file: in the command's table, or at the top level if no command has a table.

    `rules` names a command and an option: a list is the option.
    """
    text, content = _read(path)
    of_commands = {
        name: each for name, each in content.items() if name in COMMANDS and isinstance(each, dict)
    }
    table = command if of_commands else ""
    if table and (strange := [name for name in content if name not in of_commands]):
        raise _misplaced(_location(path, text, strange[0], ""), strange[0], content[strange[0]])
    given = of_commands.get(table, {}) if table else content
    known = {name.replace("_", "-"): name for name in (*actions, *tables)}
    settings = {}
    for name, value in given.items():
        if name not in known:
            choices = (*COMMANDS, *tables) if isinstance(value, dict) and not table else known
            raise _unknown(_location(path, text, name, table), name, value, choices)
        where = _location(path, text, name, table)
        said = f"{where}: {name} = {toml_value(value)}"
        is_table, option = name in tables, known[name]
        checked = _checked_table(value, said) if is_table else _checked(actions[option], value, said)
        settings[option] = Setting(checked, where)
    return settings


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except tomllib.TOMLDecodeError as error:
        reason, _, line = re.sub(r", column \d+\)$", "", str(error)).partition(" (at line ")
        hint = "; strings must be quoted" if reason == "Invalid value" else ""
        raise UsageError(f"{path}:{line}: {reason}{hint}" if line else f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8: {error.reason}") from error


def _misplaced(where: str, name: str, value: object) -> UsageError:
    """Return the error for a key at the top of a file whose options stand in the tables of commands."""
    if name in COMMANDS:
        return UsageError(f"{where}: {name} = {toml_value(value)}: put it below the table of a command")
    return _unknown(where, name, value, COMMANDS)


def _unknown(where: str, name: str, value: object, known: Iterable[str]) -> UsageError:
    what, sign = ("table", "[{}]") if isinstance(value, dict) else ("option", "{}")
    hint = choice_hint(name, sorted(known), sign)
    return UsageError(f"{where}: unknown {what} {sign.format(name)}; {hint}")


def _location(path: Path, text: str, name: str, table: str) -> str:
    """Return `FILE:LINE` of a key or table inside a table of a TOML text; `FILE` if it is not found."""
    inside, key = "", re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*[=.]""")
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?\s*([^\]]*?)\s*\]", line)
        if header:
            inside = header[1]
        if inside == f"{table}.{name}".lstrip(".") or (not header and inside == table and key.match(line)):
            return f"{path}:{number}"
    return str(path)


def _is_list(action: Action) -> bool:
    return action.nargs in {"*", "+"} or isinstance(action.default, list)


def _checked(action: Action, value: object, where: str) -> object:
    """Return a value of an option, converted as on the command line."""
    if action.nargs == 0:
        return _required(value, isinstance(value, bool), where, "true or false")
    if _is_list(action):
        return [
            _converted(action, each, where)
            for each in _required(value, _are_texts(value), where, "a list of texts")
        ]
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return _converted(action, str(_required(value, plain, where, "a text or a number")), where)


def _checked_table(value: Any, where: str) -> object:  # noqa: ANN401 - as TOML has it
    right = isinstance(value, dict) and _are_texts([*value.values()])
    return _required(value, right, where, "a table of texts")


def _required(value: Any, holds: bool, where: str, kind: str) -> Any:  # noqa: ANN401
    if not holds:
        raise UsageError(f"{where}: give {kind}")
    return value


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _converted(action: Action, text: str, where: str) -> object:
    try:
        value = action.type(text) if callable(action.type) else text
    except ArgumentTypeError as error:
        raise UsageError(f"{where}: {error}") from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where}: not a valid value") from error
    if action.choices is not None and value not in action.choices:
        raise UsageError(f"{where}: {choice_hint(str(value), action.choices)}")
    return value
