"""Writes the outputs of a night: index page, digest, metrics and JSON lines."""
