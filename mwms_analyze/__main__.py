"""Runs `mwms-analyze`, for `python -m mwms_analyze`."""

from runpy import run_module

run_module("analyzer", run_name="__main__")
