"""Reads the host: processes, control group, GPUs, file systems, the kernel's log."""
