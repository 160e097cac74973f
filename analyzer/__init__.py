"""mwms-analyze: which worker broke a distributed TensorFlow job, why, and what to do."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from analyzer.model.options import AnalysisOptions
    from analyzer.model.run import Run

__version__ = "0.1.0"


def analyze(*paths: str | PathLike[str], options: AnalysisOptions | None = None) -> Run:
    """Analyze one run, given as a directory, a file, or several files: its tables and its diagnosis.

    Tables hold what the files hold, secrets too; the diagnosis has them masked. `import analyzer` imports
    no stage.

    Raises:
        NothingReadable: no path leads to a file that can be read.
        RuleError: a rule file is wrong.
        UsageError: the paths hold more than one run.

    """
    from pathlib import Path

    pipeline = import_module("analyzer.pipeline")
    run: Run = pipeline.analyze([Path(path) for path in paths], options)
    return run
