"""What is the user's to mend.

    UserError                 one line on the terminal, never a traceback
    ├── UsageError            the command line cannot be followed            exit 2
    ├── RuleError             a rule file is wrong; names file and line      exit 2
    └── NothingReadable       no input could be read at all                  exit 4

Anything else that escapes is a mistake of ours and ends with exit 70. All commands end so: `cli/ending.py`.
"""


class UserError(Exception):
    """Something that the user can mend; its text is one complete line."""


class UsageError(UserError):
    """The command line cannot be followed."""


class RuleError(UserError):
    """One or more rule files are wrong; the text holds a `file:line: what` for each fault."""


class NothingReadable(UserError):  # noqa: N818 - it names a state of the input, not a failure of ours
    """None of the inputs could be read."""
