"""The damage text of a log whose lines have an unknown prefix."""

UNREAD_LAYOUT = (
    "something that is not known stands before most of TensorFlow's lines, so they are hardly read"
)
"""Damage of a log; a prefix hides what lines say, and whose they are."""
