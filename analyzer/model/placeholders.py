"""Texts that replace omitted parts of quoted lines."""

import re

SECRET = re.compile(r"\[secret:[a-z-]{2,20}:[0-9a-f]{4}\]")
"""Regex for the mask of a secret: its kind, and four digits, equal for equal secrets of a diagnosis."""

OMITTED = re.compile(rf"{SECRET.pattern}|… \d+ characters cut …")
"""Regex for the mask of a secret, or of the middle of a very long line."""
