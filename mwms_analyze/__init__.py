"""The import name of the distribution: `from mwms_analyze import analyze` is that of `analyzer`."""

from analyzer import (
    AnalysisOptions,
    NothingReadable,
    RuleError,
    UsageError,
    UserError,
    __version__,
    analyze,
)

__all__ = [
    "AnalysisOptions",
    "NothingReadable",
    "RuleError",
    "UsageError",
    "UserError",
    "__version__",
    "analyze",
]
