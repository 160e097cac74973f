"""Readers of files besides logs: what platforms, drivers and tools print about a job and its machines."""
