"""Collects a job into a run directory, asking only with the command-line tools that its user has.

One module a platform; each lists what is there, saves it under names that the analyzer recognizes, and
changes nothing on the cluster. `commands.py` runs the tools, `masking.py` masks secrets in environments.
"""
