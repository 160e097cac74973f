"""Formats for CI systems and code hosts: annotations, code quality, test results, static analysis."""
