"""Completes what files state of a name, a node or a package: which worker it is a fact about."""
