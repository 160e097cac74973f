"""Talks to the terminal: standard output, exit status, progress."""
