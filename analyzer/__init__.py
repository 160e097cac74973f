"""mwms-analyze: which worker broke a distributed TensorFlow job, why, and what to do."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from analyzer.model.run import Run

__version__ = "0.1.0"


def analyze(*paths: str | PathLike[str], rules: str | PathLike[str] | None = None) -> Run:
    """One run, given as a directory, a file, or several files: its tables and its diagnosis.

    `rules` is a directory of rules beside those of the package. Tables hold what the files hold, secrets too;
    the diagnosis has them masked.

    Raises:
        NothingReadable: no path leads to a file that can be read.
        RuleError: a rule file is wrong.
        UsageError: the paths hold more than one run.

    """
    pipeline = import_module("analyzer.pipeline")  # here, so that `import analyzer` costs next to nothing
    path = import_module("pathlib").Path
    pack = pipeline.load_rules([path(rules)] if rules else [])
    run: Run = pipeline.analyze_with_tables([path(each) for each in paths], pack)
    return run
