"""How logs lie in files: the damage text of an unknown prefix, and the names of logs joined into one file."""

from string import ascii_lowercase

UNREAD_LAYOUT = (
    "something that is not known stands before most of TensorFlow's lines, so they are hardly read"
)
"""Damage of a log; a prefix hides what lines say, and whose they are."""

_PART = "part-"


def part_key(number: int) -> str:
    """Return the key of the stream with the log of a process, counted from 0: `part-a`, `part-b`."""
    rest, last = divmod(number, len(ascii_lowercase))
    return (part_key(rest - 1) if rest else _PART) + ascii_lowercase[last]


def is_part(key: str | None) -> bool:
    """Return True for a key as `part_key` returns it."""
    return bool(key) and str(key).startswith(_PART)


def joined_file(source: str) -> str | None:
    """Return the file that a log was joined into with others, as `all.log` of `all.log#part-b`; else None."""
    file, _, key = source.rpartition("#")
    return file if is_part(key) else None
