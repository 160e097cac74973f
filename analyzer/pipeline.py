"""Runs the stages of an analysis in order; each takes the value that the previous one returned.

paths ─discover→ RunDir ─ingest→ Tables ─identify→ Tables ─derive→ Tables ─match→ Findings
─diagnose→ Diagnosis ─redact→ Run

Later stages are imported while `ingest` runs, because they import polars: its threads must not exist when
reader processes are forked, and its import takes as long as a small run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from analyzer.discover import discover, installed_readers, reader_versions
from analyzer.engine import RulePack, installed_packs, load_with_packs, why_no_rules, with_given_paths
from analyzer.ingest import ingest
from analyzer.model.contract import DiagnosisDocument
from analyzer.model.errors import NothingReadable, RuleError, UsageError
from analyzer.model.options import AnalysisOptions
from analyzer.model.run import Diagnosis, NamedTables, Run, RunDir, Tables
from analyzer.storage.package_files import resource

if TYPE_CHECKING:
    from analyzer.diagnose import BaselineRun

_MANY_SOURCES = 1_000
"""Number of files from which what the stages before needed is worth returning before the document is made."""


def analyze(
    paths: Sequence[Path], options: AnalysisOptions | None = None, pack: RulePack | None = None
) -> Run:
    """Return tables and diagnosis of one run: a directory or files; `pack` replaces `options.rules`.

    Raises:
        NothingReadable: no path leads to a file that can be read.
        RuleError: a rule file is wrong.
        UsageError: the paths hold more than one run, or XProf is asked for and not installed.
    """
    options = options or AnalysisOptions()
    pack = pack or load_rules(options.rules, packs=options.packs)
    run = discover(paths, installed_readers() if options.packs else (), options.budget)
    tables = load_tables(run, pack, options)
    baseline = _baseline(options, pack)

    from analyzer.diagnose.places import number_by_file, quoted_sources
    from analyzer.diagnose.provenance import command_line
    from analyzer.ingest.raw_lines import entry_lines
    from analyzer.redact import redact

    command = command_line(run.name, paths, options, pack.directories, baseline and baseline.name)
    document = diagnose_tables(run.name, tables, pack, baseline, command).document
    number_by_file(document, entry_lines(run, quoted_sources(document)))
    made = document["made_with"]
    made["versions"] = {**made["versions"], **reader_versions(run)}
    if options.xprof_seconds:
        from analyzer.ingest.profiler.xprof import quoted

        document["xprof"] = quoted(run, tables["sources"], options.xprof_seconds)
    return Run(
        run.name,
        NamedTables(tables),
        Diagnosis(cast(DiagnosisDocument, redact(document, options.redaction, _texts(tables)))),
    )


def load_rules(more: Sequence[Path] = (), *, packs: bool = True) -> RulePack:
    """Return the rules of the package, of installed packs and of further directories.

    Raises:
        RuleError: a rule file is wrong, or a directory is none or holds no rule.
    """
    for folder in more:
        if why := why_no_rules(folder):
            raise RuleError(f"{folder}: {why}")
    try:
        return load_with_packs([resource("rules"), *more], installed_packs() if packs else {})
    except RuleError as error:
        raise RuleError(with_given_paths(str(error), more)) from None


def load_tables(run: RunDir, pack: RulePack, options: AnalysisOptions | None = None) -> Tables:
    """Return all tables of a run, ingested and derived.

    Raises:
        NothingReadable: none of its files can be read.
        UsageError: the files belong to several jobs.
    """
    options = options or AnalysisOptions()

    def warm_up() -> None:
        _import_later_stages()
        if options.warm_up:
            options.warm_up()

    read = ingest(run, pack.patterns, pack.messages, options.progress, warm_up)

    from analyzer.derive import derive
    from analyzer.identify import identify
    from analyzer.identify.jobs import require_one_job
    from analyzer.ingest.assembly import require_readable

    require_readable(run, read["sources"])
    require_one_job(run.name, read, pack.messages)
    return derive(identify(read, pack.messages), pack.messages)


def diagnose_tables(
    name: str, tables: Tables, pack: RulePack, baseline: BaselineRun | None = None, command: str = ""
) -> Diagnosis:
    """Return the diagnosis of a run's tables, before secrets are masked."""
    from analyzer.diagnose import diagnose
    from analyzer.diagnose.provenance import made_with
    from analyzer.engine.evaluate import match

    made = made_with(pack.described, command)
    findings = match(pack, tables)
    if tables["sources"].height > _MANY_SOURCES:
        from analyzer.storage.free_memory import return_free_memory

        return_free_memory()
    return diagnose(name, findings, tables, made, baseline, pack.renamed, pack.causes)


def _baseline(options: AnalysisOptions, pack: RulePack) -> BaselineRun | None:
    if not options.against:
        return None
    try:
        run = discover(options.against, limits=options.budget)
        tables = load_tables(run, pack)
    except (NothingReadable, UsageError) as error:
        raise UsageError(f"against: {error}") from error

    from analyzer.diagnose import BaselineRun
    from analyzer.ingest.raw_lines import line_templates
    from analyzer.model.log_template import undated_template

    found = diagnose_tables(run.name, tables, pack).document
    return BaselineRun(
        run.name, found["verdict"], found["cause"], tables, line_templates(run, undated_template)
    )


def _texts(tables: Tables) -> Iterator[str]:
    """Yield the texts of a run that may name machines, people and places: facts, records, file names."""
    for table, column in (("facts", "value"), ("records", "text"), ("sources", "source")):
        yield from tables[table][column].drop_nulls().unique(maintain_order=True)


def _import_later_stages() -> None:
    import polars  # noqa: F401 - before deeper imports: a call at the end of a 16 KiB stack chunk maps memory

    import analyzer.derive
    import analyzer.diagnose.advice.recipes
    import analyzer.diagnose.provenance
    import analyzer.engine.evaluate
    import analyzer.identify
    import analyzer.ingest.assembly
    import analyzer.redact

    analyzer.diagnose.provenance.library_versions()
