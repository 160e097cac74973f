"""What platforms leave beside logs: pods, sacct, nvidia-smi, cgroups, disks, stacks, packages, TF_CONFIG."""
