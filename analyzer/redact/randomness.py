"""Distinguishes random strings, such as keys and tokens, from names."""

import re
from itertools import pairwise


def is_random(value: str) -> bool:
    """Return True for a word of 12 characters or more that often changes between a-z, A-Z and 0-9."""
    letters = re.sub(r"[_-]", "", value)
    changes = sum(_class(one) != _class(other) for one, other in pairwise(letters))
    return len(letters) >= 12 and changes >= 0.22 * len(letters) and not re.search(r"\s", value)


def is_opaque(value: str) -> bool:
    """Return True for a random string, or one of letters and digits of which a quarter or more are digits."""
    digits = sum(char.isdigit() for char in value)
    return is_random(value) or (value.isalnum() and 4 * digits >= len(value))


def _class(char: str) -> int:
    return char.isdigit() + 2 * char.isupper() + 4 * char.islower()
