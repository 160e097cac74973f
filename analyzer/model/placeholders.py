"""Texts that replace omitted parts of quoted lines."""

import re

SECRET = re.compile(r"\[secret:[a-z-]{2,20}:[0-9a-f]{4}\]")
"""Replaces a secret: its kind, and four digits that are equal for equal secrets of one diagnosis."""

OMITTED = re.compile(rf"{SECRET.pattern}|… \d+ characters cut …")
"""Replaces a secret, or the middle of a very long line."""
