"""What the kernel tells of a job: evidence of faults, apart from all that workers print."""
