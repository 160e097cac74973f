"""Errors that the user can fix.

    UserError                 one line on the terminal, never a traceback
    ├── UsageError            the command line cannot be followed            exit 2
    ├── RuleError             a rule file is wrong; names file and line      exit 2
    └── NothingReadable       no input could be read at all                  exit 4

Any other exception is an internal error and ends with exit status 70; see `cli/terminal/entrypoint.py`.
"""

from collections.abc import Iterable

MAX_LISTED = 12
"""Number of known names that a message lists; if there are more, it lists only similar ones."""


class UserError(Exception):
    """An error that the user can fix; its text is one complete line."""


class UsageError(UserError):
    """The command line is invalid."""


class RuleError(UserError):
    """One or more rule files are invalid; the text lists each fault as `file:line: what`."""


def missing_extra(missing: str, extra: str) -> str:
    """Return the sentence that names what is not installed, and the command that installs the extra."""
    checkout = f"in a checkout of mwms-analyze: pip install '.[{extra}]'"
    return f"{missing} is not installed; {checkout}, with its wheel: pip install 'WHEEL[{extra}]'"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint for an unknown name: similar names, else all names if they are few."""
    from difflib import get_close_matches

    names = sorted(names)
    if near := get_close_matches(name, names, n=3):
        return f"; did you mean {' or '.join(f'`{each}`' for each in near)}?"
    return f"; there are {', '.join(names)}" if len(names) <= MAX_LISTED else ""


class NothingReadable(UserError):  # noqa: N818 - it names a state of the input, not a failure of ours
    """None of the inputs could be read."""
