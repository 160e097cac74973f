"""The curves of metrics: what the values of each worker do, and how workers compare."""
