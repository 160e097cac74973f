"""What is said of a log whose lines are in a form that is not known."""

UNREAD_LAYOUT = (
    "something that is not known stands before most of TensorFlow's lines, so they are hardly read"
)
"""Damage of a log; a prefix hides what lines say, and whose they are."""
