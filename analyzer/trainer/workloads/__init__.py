"""Programs as users write them, one folder each; `workload.yaml` says how the trainer starts it."""
