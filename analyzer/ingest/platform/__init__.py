"""Readers of files besides logs: pods, sacct, nvidia-smi, cgroups, disks, stacks, packages, TF_CONFIG."""
