"""Python tracebacks in logs: which lines belong to one, and what it says."""
