"""The stages, in order. Each hands the next a value; none calls back.

paths ─discover→ RunDir ─ingest→ Tables ─derive→ Tables ─match→ Findings ─diagnose→ Diagnosis, then redacted
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import __version__
from analyzer.discover import discover
from analyzer.engine import RulePack, load_kept
from analyzer.ingest import Watch, ingest
from analyzer.model.diagnosis import Diagnosis
from analyzer.model.errors import NothingReadable, UsageError
from analyzer.model.run import Run, RunDir, Tables
from analyzer.model.task_names import printable
from analyzer.storage.package_files import resource

if TYPE_CHECKING:
    from analyzer.diagnose import GoodRun
    from analyzer.redact import Redaction

_MOST_NAMES = 8
"""Files that the command line names one by one."""
_LIBRARIES = ("polars", "hyperscan", "regex", "protobuf", "pyyaml", "jinja2")


def analyze(
    paths: Sequence[Path],
    pack: RulePack | None = None,
    redaction: Redaction = "secrets",
    against: Sequence[Path] = (),
    watch: Watch | None = None,
    given: Sequence[str] = (),
    xprof: float = 0.0,
    warm_up: Callable[[], None] | None = None,
) -> Diagnosis:
    """The diagnosis of one run, given as a directory, a file, or several files.

    `against` is a run that went well: what differs from it is said. `watch` is told how far the reading has
    come. `given` is how the paths were given, where that is not by their names: `-` for standard input.
    `xprof` is how many seconds XProf may take to say what it thinks of the traces. `meanwhile` is called
    once, while large logs are being read: what the caller needs later can be made ready. No secret is in the
    diagnosis; redacted for `topology`, neither hosts, addresses nor people.

    Raises:
        NothingReadable: no path leads to a file that can be read.
        RuleError: a rule file is wrong.
        UsageError: the paths hold more than one run, or XProf is asked for and not installed.

    """
    return analyze_with_tables(paths, pack, redaction, against, watch, given, xprof, warm_up).diagnosis


def analyze_with_tables(
    paths: Sequence[Path],
    pack: RulePack | None = None,
    redaction: Redaction = "secrets",
    against: Sequence[Path] = (),
    watch: Watch | None = None,
    given: Sequence[str] = (),
    xprof: float = 0.0,
    warm_up: Callable[[], None] | None = None,
) -> Run:
    """The same, with the tables that it follows from; they are not redacted.

    Raises:
        NothingReadable: no path leads to a file that can be read.
        RuleError: a rule file is wrong.
        UsageError: the paths hold more than one run.

    """
    pack = pack or load_rules()
    run = discover(paths)
    tables = load_tables(run, pack, watch, warm_up)
    good = _good(against, pack) if against else None
    compared = ["--against", *_inputs(against, good.name)] if good else []
    options = [*_options(pack, redaction), *compared, *(["--xprof"] if xprof else [])]
    command = shlex.join(["mwms-analyze", *(given or _inputs(paths, run.name)), *options])
    document = diagnose_tables(run.name, tables, pack, good, command).document
    if xprof:
        document = {**document, "xprof": _quoted(run, tables, xprof)}
    from analyzer.redact import redact

    return Run(run.name, tables, Diagnosis(redact(document, redaction)))


def diagnose_tables(
    name: str, tables: Tables, pack: RulePack, good: GoodRun | None = None, command: str = ""
) -> Diagnosis:
    """The diagnosis of a run that was read; nothing is masked in it yet."""
    from analyzer.diagnose import diagnose
    from analyzer.engine.evaluate import match

    return diagnose(name, match(pack, tables), tables, _made_with(pack, command), good)


def load_rules(more: Sequence[Path] = ()) -> RulePack:
    """The rules that come with the package, and those of further directories."""
    return load_kept(list(dict.fromkeys(path.resolve() for path in (resource("rules"), *more))))


def load_tables(
    run: RunDir, pack: RulePack, watch: Watch | None = None, warm_up: Callable[[], None] | None = None
) -> Tables:
    """All tables of a run, read and derived.

    Raises:
        NothingReadable: none of its files can be read.
        UsageError: it is not one run.

    """

    def warm_up_all() -> None:
        _import_later_stages()
        _versions()
        if warm_up:
            warm_up()

    found = ingest(run, pack.patterns, pack.messages, watch, warm_up_all)
    from analyzer.derive import derive

    _expect_one_run(run, found)
    return derive(found, pack.messages)


def _expect_one_run(run: RunDir, found: Tables) -> None:
    """Raise where nothing of it could be read, or where it is more than one run."""
    opened = found["sources"].filter(found["sources"]["read"] != "skipped")
    if not opened.height:
        reasons = sorted(set(found["sources"]["reason"].to_list()))
        count = len(run.sources)
        which = "nothing in it" if count == 1 else f"none of its {count} files"
        raise NothingReadable(f"{run.name}: {which} could be read ({'; '.join(reasons[:3])})")
    if not opened["bytes"].sum():
        raise NothingReadable(f"{run.name}: {_all_empty(opened.height, len(run.sources))}")
    from analyzer.derive.jobs import several_jobs

    if jobs := several_jobs(found["facts"]):
        from analyzer.engine.texts import listed

        raise UsageError(
            f"{run.name}: these look like {len(jobs)} jobs: {listed(jobs)}; give one of them "
            "(if they are attempts of one job, call them attempt-1, attempt-2)"
        )


def _import_later_stages() -> None:
    """Import what only those need: polars alone takes longer than all other imports."""
    import analyzer.derive.jobs
    import analyzer.diagnose.recipes
    import analyzer.engine.evaluate
    import analyzer.ingest.assembly
    import analyzer.redact  # noqa: F401


def _quoted(run: RunDir, tables: Tables, seconds: float) -> list[Mapping[str, object]]:
    """What XProf says of the traces that were read without damage."""
    from analyzer.ingest.profiler.xprof import quotes

    read = tables["sources"].filter(
        (tables["sources"]["kind"] == "trace") & (tables["sources"]["read"] == "complete")
    )
    whole = dict(read.select("source", "worker").iter_rows())
    return [{**one._asdict(), "says": list(one.says)} for one in quotes(run.sources, whole, seconds)]


def _good(paths: Sequence[Path], pack: RulePack) -> GoodRun:
    run = discover(paths)
    from analyzer.diagnose import GoodRun
    from analyzer.ingest.raw_lines import line_templates

    return GoodRun(run.name, load_tables(run, pack), line_templates(run))


def _all_empty(opened: int, files: int) -> str:
    if opened < files:
        return f"of its {files} files, only {opened} could be read, and nothing is in them"
    return "the file is empty" if files == 1 else f"all {files} files are empty"


def _made_with(pack: RulePack, command: str) -> Mapping[str, object]:
    packs = [each._asdict() for each in pack.packs]
    options = {"overlay": pack.overlay} if pack.overlay else {}
    return {
        "mwms_analyze": __version__,
        "rules": len(pack.rules),
        "rules_digest": pack.digest,
        "packs": packs,
        "options": options,
        "versions": _versions(),
        **({"command": command} if command else {}),
    }


@cache
def _versions() -> Mapping[str, str]:
    """What reads and reckons besides our own code; a library that calls itself otherwise is left out.

    Looking them up takes as long as some stages; they do not change while the process lives.
    """
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": sys.version.partition(" ")[0]}
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _inputs(paths: Sequence[Path], name: str) -> Sequence[str]:
    """The names of what was given; a directory has that of the run, which tells more than `logs`."""
    if len(paths) == 1:
        return [name if paths[0].is_dir() else printable(paths[0].name)]
    names = sorted({printable(path.name) for path in paths})
    return names if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "…"]


def _options(pack: RulePack, redaction: Redaction) -> Iterator[str]:
    files = [*(rule.file for rule in pack.rules), *filter(None, pack.overlay.split(", "))]
    for name in sorted({file.partition("/")[0] for file in files} - {resource("rules").name}):
        yield from ("--rules", name)
    if redaction != "secrets":
        yield from ("--redact", redaction)
