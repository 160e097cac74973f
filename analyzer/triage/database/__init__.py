"""Stores the results of all nights in a database, and upgrades its tables."""
