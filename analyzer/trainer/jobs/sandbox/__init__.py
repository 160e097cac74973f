"""Stands in for the machines of a cluster: their network, their directories, and removing both again."""
