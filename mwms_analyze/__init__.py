"""The import name of the distribution: `from mwms_analyze import analyze` is that of `analyzer`."""

from analyzer import AnalysisOptions, __version__, analyze

__all__ = ["AnalysisOptions", "__version__", "analyze"]
