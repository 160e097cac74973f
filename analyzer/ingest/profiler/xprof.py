"""Quotes what XProf says about a run's traces, if it is installed and was asked for.

XProf's converters write files next to the trace, may take minutes, and report no error on damaged traces.
They therefore run in a process of their own with a time limit, on a copy, and only on undamaged traces.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from analyzer.ingest.profiler.duplicate_traces import is_chrome
from analyzer.model.budget import Budget
from analyzer.model.contract import XprofQuote
from analyzer.model.errors import UsageError, missing_extra
from analyzer.model.run import RunDir, Source
from analyzer.model.source_kinds import Kind
from analyzer.storage.decompress import decompressed_file
from analyzer.storage.scratch import ScratchDirectory

if TYPE_CHECKING:
    import polars as pl

TOOLS = ("overview_page", "input_pipeline_analyzer")
_PROGRAM = """
import json, sys
from xprof.convert.raw_to_tool_data import xspace_to_tool_data as ask
answers = {}
for tool in sys.argv[2:]:
    data, _ = ask([sys.argv[1]], tool, {"use_saved_result": False})
    answers[tool] = json.loads(data)
print(json.dumps(answers))
"""
ASK = (sys.executable, "-I", "-c", _PROGRAM)
"""The command that runs XProf on a trace with some tools and prints their answers as a JSON object."""

_STATEMENT_KEYS = (
    "statement", "input_conclusion", "kernel_launch_statement", "precision_statement",
    "all_other_statement", "device_collectives_statement", "remark_text",
)  # fmt: skip
_TAG = re.compile(r"<[^<>]*>")
_MAX_STATEMENTS, _MAX_CHARS = 8, 400


class Quote(NamedTuple):
    """XProf's statements on one trace; `problem` is the reason if there are none, else empty.

    `step_time` is the mean in seconds, `input_share` the share of input in all steps.
    """

    source: str
    worker: str | None
    says: tuple[str, ...] = ()
    steps: int = 0
    step_time: float | None = None
    input_share: float | None = None
    problem: str = ""


def quoted(run: RunDir, sources: pl.DataFrame, seconds: float) -> list[XprofQuote]:
    """Return the section `xprof` of the document: statements on the traces that were read without damage.

    Raises:
        UsageError: XProf is not installed.
    """
    read = sources.filter((sources["kind"] == Kind.TRACE.value) & (sources["read"] == "complete"))
    whole = dict(read.select("source", "worker").iter_rows())
    found = quotes(run.sources, whole, seconds)
    return [cast(XprofQuote, quote._asdict() | {"says": list(quote.says)}) for quote in found]


def quotes(
    sources: Iterable[Source], whole: Mapping[str, str | None], seconds: float, ask: Sequence[str] = ASK
) -> list[Quote]:
    """Return XProf's statements on each trace, in order of name, taking at most `seconds` in all.

    `whole` maps the traces that were read without damage to their workers.

    Raises:
        UsageError: XProf is not installed.
    """
    if ask is ASK and find_spec("xprof") is None:
        raise UsageError(missing_extra("XProf", "profile"))
    until = time.monotonic() + seconds
    planes = (one for one in sources if one.kind is Kind.TRACE and not one.skip and not is_chrome(one))
    return [_quote(one, whole, until, ask) for one in sorted(planes, key=lambda one: one.name)]


def _quote(source: Source, whole: Mapping[str, str | None], until: float, ask: Sequence[str]) -> Quote:
    silent = Quote(source.name, whole.get(source.name, source.worker))
    if source.name not in whole:
        return silent._replace(problem="was not asked about: the trace is damaged")
    with ScratchDirectory() as folder:
        copy = Path(folder, "plugins", "profile", "copy", "host.xplane.pb")
        copy.parent.mkdir(parents=True)
        try:
            with decompressed_file(source.path, Budget()) as (path, _):
                copy.write_bytes(path.read_bytes())
            left = until - time.monotonic()
            if left <= 0:
                return silent._replace(problem="was not asked about: the time was used up")
            ran = subprocess.run(  # noqa: S603 - this very interpreter
                [*ask, str(copy), *TOOLS], capture_output=True, text=True, errors="replace", check=True,
                timeout=left, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            return read_answers(silent, json.loads(ran.stdout))
        except subprocess.TimeoutExpired:
            return silent._replace(problem="gave no answer in time")
        except subprocess.CalledProcessError as error:
            said = error.stderr.strip().splitlines()[-1:] or [f"exit code {error.returncode}"]
            return silent._replace(problem=f"failed: {said[0].replace(folder, '')[:_MAX_CHARS]}")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            return silent._replace(problem=f"cannot be quoted: {type(error).__name__}")


def read_answers(quote: Quote, answers: Mapping[str, Any]) -> Quote:
    """Return the quote with the answers of the tools: lists of tables with columns, rows and properties.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: the answers have another form.
    """
    tables = [table for tool in TOOLS for table in answers[tool]]
    says = dict.fromkeys(text for table in tables for text in _sentences(table.get("p") or {}))
    steps = next((list(_steps(table)) for table in tables if _columns(table)[:1] == ["stepnum"]), [])
    total = sum(whole for whole, _ in steps)
    return quote._replace(
        says=tuple(says)[:_MAX_STATEMENTS],
        steps=len(steps),
        step_time=total / len(steps) / 1000 if steps else None,
        input_share=sum(infeed for _, infeed in steps) / total if total else None,
        problem="" if says else "says nothing of it",
    )


def _sentences(properties: Mapping[str, Any]) -> Iterator[str]:
    for key in _STATEMENT_KEYS:
        text = " ".join(unescape(_TAG.sub("", str(properties.get(key) or ""))).split())
        if text:
            yield text[:_MAX_CHARS]


def _columns(table: Mapping[str, Any]) -> list[str]:
    return [column["id"] for column in table.get("cols") or []]


def _steps(table: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Yield the duration of each step and of its input, in milliseconds."""
    names = _columns(table)
    for row in table["rows"]:
        cells = dict(zip(names, (cell and cell["v"] for cell in row["c"]), strict=False))
        yield float(cells["stepTimeMs"]), float(cells["infeedTimeMs"])
