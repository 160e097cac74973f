"""Checks a diagnosis against the files of its run: each quoted line must be where the diagnosis says.

A pure function of the diagnosis document and of the lines that the caller read from the files.
"""

from analyzer.verify.quotes import Mismatch, Quote, lines_to_read, mismatches, quotes

__all__ = ["Mismatch", "Quote", "lines_to_read", "mismatches", "quotes"]
