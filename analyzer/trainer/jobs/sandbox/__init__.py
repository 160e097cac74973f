"""Simulates the machines of a cluster: sets up their networks and directories, and removes them."""
