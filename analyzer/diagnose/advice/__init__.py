"""Says what to do with the job: whether and where to restart it, from which checkpoint, what to collect."""
