"""The stages, in order. Each hands the next a value; none calls back.

    paths ─discover→ RunDir ─ingest→ Tables ─derive→ Tables ─match→ Findings ─diagnose→ Diagnosis
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from analyzer import __version__
from analyzer.derive import derive
from analyzer.diagnose import diagnose
from analyzer.discover import discover
from analyzer.engine import RulePack, load, match
from analyzer.ingest import ingest
from analyzer.model import Diagnosis
from analyzer.resources import resource


def analyze(paths: Sequence[Path], pack: RulePack | None = None, options: Mapping[str, str] | None = None) -> Diagnosis:
    """The diagnosis of one run, given as a directory, a file, or several files.

    Raises:
        NothingReadable: no path leads to a file.
        RuleError: a rule file is wrong.
    """
    pack = pack or load([resource("rules")])
    run = discover(paths)
    tables = derive(ingest(run, pack.patterns))
    findings = match(pack, tables)
    made_with = {"mwms_analyze": __version__, "rules": len(pack.rules), "rules_digest": pack.digest, "options": dict(options or {})}
    return diagnose(run.name, findings, tables, made_with)
