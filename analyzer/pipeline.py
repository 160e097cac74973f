"""The stages, in order. Each hands the next a value; none calls back.

paths ─discover→ RunDir ─ingest→ Tables ─derive→ Tables ─match→ Findings ─diagnose→ Diagnosis, then redacted
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from analyzer import __version__
from analyzer.derive import derive
from analyzer.diagnose import diagnose
from analyzer.discover import discover
from analyzer.engine import RulePack, load_kept, match
from analyzer.errors import NothingReadable
from analyzer.ingest import ingest
from analyzer.model import Diagnosis, RunDir, Tables
from analyzer.redact import Redaction, redact
from analyzer.resources import resource


def analyze(
    paths: Sequence[Path], pack: RulePack | None = None, redaction: Redaction = "secrets"
) -> Diagnosis:
    """The diagnosis of one run, given as a directory, a file, or several files.

    No secret is in it; redacted for `topology`, neither hosts, addresses nor people.

    Raises:
        NothingReadable: no path leads to a file that can be read.
        RuleError: a rule file is wrong.

    """
    pack = pack or load_rules()
    run = discover(paths)
    tables = read(run, pack)
    findings = match(pack, tables)
    diagnosis = diagnose(run.name, findings, tables, _made_with(pack))
    return Diagnosis(redact(diagnosis.document, redaction))


def load_rules(more: Sequence[Path] = ()) -> RulePack:
    """The rules that come with the package, and those of further directories."""
    return load_kept([resource("rules"), *more])


def read(run: RunDir, pack: RulePack) -> Tables:
    """All tables of a run, read and derived."""
    found = ingest(run, pack.patterns)
    if not found["sources"].filter(found["sources"]["read"] != "skipped").height:
        reasons = sorted(set(found["sources"]["reason"].to_list()))
        count = len(run.sources)
        which = "nothing in it" if count == 1 else f"none of its {count} files"
        raise NothingReadable(f"{run.name}: {which} could be read ({'; '.join(reasons[:3])})")
    return derive(found)


def _made_with(pack: RulePack) -> Mapping[str, object]:
    options = {"overlay": pack.overlay} if pack.overlay else {}
    return {
        "mwms_analyze": __version__,
        "rules": len(pack.rules),
        "rules_digest": pack.digest,
        "options": options,
    }
