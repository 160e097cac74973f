"""Relates a run to other runs: what differs from a good one, and which failures are of the same kind."""
