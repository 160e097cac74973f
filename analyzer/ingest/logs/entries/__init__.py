"""Entries of exported logs, by format: the fields of each, in the order of the file."""
