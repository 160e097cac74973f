"""mwms-analyze: which worker broke a distributed TensorFlow job, why, and what to do."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Never

from analyzer.model.errors import NothingReadable, RuleError, UsageError, UserError
from analyzer.model.options import AnalysisOptions, checked

if TYPE_CHECKING:
    from analyzer.model.run import Run

__all__ = [
    "AnalysisOptions",
    "NothingReadable",
    "RuleError",
    "UsageError",
    "UserError",
    "__version__",
    "analyze",
]
__version__ = "0.1.0"


def analyze(*paths: str | os.PathLike[str], options: AnalysisOptions | None = None, **unknown: Never) -> Run:
    """Analyze one run, given as a directory, a file, or several files: its tables and its diagnosis.

    Tables hold what the files hold, secrets too; the diagnosis has them masked. `import analyzer` imports
    no stage.

    Raises:
        NothingReadable: no path leads to a file that can be read.
        RuleError: a rule file is wrong, or a directory of rules is none.
        UsageError: a path is empty, they hold more than one run, or there is no such redaction.
        TypeError: no path is given, a path or an option has a wrong type, as a list of paths has, or an
            option is not given by `AnalysisOptions`.
    """
    from pathlib import Path

    if unknown:
        name = next(iter(unknown))
        way = (
            f"options=AnalysisOptions({name}=…)"
            if name in AnalysisOptions._fields
            else "help(AnalysisOptions)"
        )
        raise TypeError(f"analyze() got an unexpected keyword argument {name!r}; for options, see {way}")
    if not paths:
        raise TypeError('analyze() needs a path: a directory, an archive or files, as in analyze("run_dir")')
    if wrong := [path for path in paths if not isinstance(path, str | os.PathLike)]:
        several = isinstance(wrong[0], list | tuple | set | dict)
        way = "pass several files as analyze(*paths)" if several else "give a text or a Path"
        raise TypeError(f"a path is a {type(wrong[0]).__name__}: {way}")
    if "" in paths:
        raise UsageError("a path is empty")
    pipeline = import_module("analyzer.pipeline")
    try:
        run: Run = pipeline.analyze([Path(path) for path in paths], options and checked(options))
    except UserError as error:
        raise error.with_traceback(None) from None  # it is the caller's: where we found it tells nothing
    return run
