"""The import name of the distribution: `from mwms_analyze import analyze` is that of `analyzer`."""

from analyzer import __version__, analyze

__all__ = ["__version__", "analyze"]
