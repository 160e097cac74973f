"""Reads the state of the host: processes, cgroup, GPUs, file systems, kernel log."""
