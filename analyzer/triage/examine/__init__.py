"""Finds the runs below a root, and diagnoses them in local processes or on a cluster."""
