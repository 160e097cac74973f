"""Logs as text → records, matches, scalars and facts."""
