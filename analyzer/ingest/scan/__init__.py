"""Finds the lines of large logs that are worth reading, without parsing any line."""
