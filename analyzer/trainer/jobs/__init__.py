"""Runs one training job: its folders, hosts and processes, and the logs that they write."""
