"""Collects the input of identification: source names, and facts that logs state about their worker."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

import polars as pl

from analyzer.model.messages import Messages
from analyzer.model.run import Tables
from analyzer.model.schema import GAUGE
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import (
    attempt_of,
    host_in,
    is_kernel_log,
    is_numbered,
    log_of,
    split_task,
    without_attempt,
    without_date,
    worker_of,
)
from analyzer.tables.grouping import grouped

_OF_SLURM = ("slurm", "requeued", "ended_by_scheduler", "ended_at", "cancelled_at")
"""Keys of facts that Slurm states of a job, not a program of itself."""
_OF_ANYBODY = (*_OF_SLURM, "sigterm", "stop_requested")
"""Keys of facts that a program which does not train states as well."""
_OF_TASK = ("agent_connected", "server_address", "task", "num_workers", "own_device")
"""Keys of facts that only a task of the cluster states of itself."""
_OF_REPORT = ("lsf", "lsf_job", "pbs", "pbs_job", "out_of_memory", "exit_code")
"""Keys of facts that the report of a scheduler states of a job."""
_EXIT_CODE_OF = "exit_code:"
"""Start of the key of an exit code that is of another process, which the key names."""
_JOB_IDS = ("lsf_job", "pbs_job")
HOST = re.compile(r"(?:^|[^a-z])(?:node|host)[-_]?\d+")
"""Regex for the name of a host within a file's name, in lower case."""
_NUMBERS = re.compile(r"\d+")
_STAGE = re.compile(r"(\d{1,4})[-_.]([A-Za-z]+(?:[-_][A-Za-z]+(?![A-Za-z\d]))*)")
"""Regex for the start of a file's name that is a number and words; no part of an identifier counts."""
SAID_AT_START = ("tensorflow", "task", "python", "host", "num_workers", "replicas", "strategy")
"""Keys of facts that a script logs at start-up; a repetition indicates a restart."""
_KEYS = (
    *SAID_AT_START, "own_device", "created_device", "server_address", "cluster_spec", "process_banner",
    "requeued", "restarts", "awaits", "connected", "agent_connected", "leader", "global_rank",
    "nccl_host", "labelled_pod", "listed_process", "lost_task",
)  # fmt: skip


_CONTENT = ("bytes", "lines", "first_time", "last_time")


class NamedSource(NamedTuple):
    """A source with the worker and the attempt that its name states; the attempt is 1 if it states none."""

    name: str
    kind: str
    worker: str | None
    attempt: int
    numbered: bool = False
    """Whether the name states the attempt."""
    content: tuple[object, ...] = ()
    """Size and times by which a copy of a log is known; empty without times."""

    @property
    def is_log(self) -> bool:
        """Return True if the source is a log."""
        return self.kind == Kind.LOG


class Statement(NamedTuple):
    """A row of `facts` that identifies a worker, marks the start of a process, or names a peer."""

    line: int
    key: str
    value: str
    worker: str | None


Statements = Mapping[str, Sequence[Statement]]
"""Source → its statements, in the order of the table."""


def named_sources(sources: pl.DataFrame) -> list[NamedSource]:
    """Return each source with the worker and attempt that its name tells, in table order.

    The number in `node13-dmesg.txt` is a host's if no other file names worker 13. The number in `3_train.txt`
    is a step's if several folders have such a file, and none has it with another number, or if the files of
    one folder are numbered with gaps, each with words of its own.
    """
    columns = sources.select("source", "kind", "worker", "attempt", *_CONTENT)
    named = [
        NamedSource(name, kind, worker, attempt, attempt_of(name) is not None, () if None in size else size)
        for name, kind, worker, attempt, *rest in columns.iter_rows()
        for size in [tuple(rest)]
    ]
    others = {each.worker for each in named if not _is_of_a_host(each.name)} - {None}
    unknown = {
        each.name for each in named if others and each.worker not in others and _is_of_a_host(each.name)
    }
    numbered = [each.name for each in named if each.is_log and _is_numbered(each.name)]
    unknown |= _in_several_folders(numbered) | _of_stages(numbered)
    varying = _varying_numbers(numbered)
    of_jobs = {worker_of(log) for log in varying}
    unknown |= {log for log in numbered if log not in varying and worker_of(log) in of_jobs}
    named = [each._replace(worker=varying.get(each.name, each.worker)) for each in named]
    return [each._replace(worker=None) if each.name in unknown else each for each in named]


def _is_numbered(name: str) -> bool:
    """Return True for a log with a number but no role in its name; a stream's stands behind its file's."""
    return is_numbered(name) and ("#" not in name or is_numbered(name.rpartition("#")[2]))


def _varying_numbers(logs: Iterable[str]) -> dict[str, str]:
    """Return log → worker for logs of one folder that share the number taken for their worker's index.

    Their index is the one other number in which their names differ: 0 in `train.771.0.out`, of job 771.
    """
    found: dict[str, str] = {}
    own = {log: without_date(log.rpartition("/")[2]) for log in logs}
    folders = grouped(((log.rpartition("/")[0], _NUMBERS.sub("#", own[log])), log) for log in own)
    for alike in folders.values():
        numbers = [_NUMBERS.findall(own[log]) for log in alike]
        varying = [values for values in zip(*numbers, strict=True) if len({*values}) > 1]
        if (
            len({worker_of(log) for log in alike}) == 1
            and len(varying) == 1
            and max(map(len, varying[0])) < 5
        ):
            found |= {log: f"worker:{int(number)}" for log, number in zip(alike, varying[0], strict=True)}
    return found


def _in_several_folders(logs: Iterable[str]) -> set[str]:
    """Return the logs of several folders whose names are equal apart from numbers and state one worker."""
    groups = grouped((_NUMBERS.sub("#", PurePosixPath(log_of(log)).name), log) for log in logs)
    found: set[str] = set()
    for alike in groups.values():
        folders = {without_date(without_attempt(PurePosixPath(log).parent.as_posix())) for log in alike}
        if len({worker_of(log) for log in alike}) == 1 and len(folders) > 1:
            found |= {*alike}
    return found


def _of_stages(logs: Iterable[str]) -> set[str]:
    """Return the logs that are numbered by stage of the job, not by worker: `20_image_build.txt`.

    Workers share the words of their names, or are counted without a gap.
    """
    stages: set[str] = set()
    found = ((log, match) for log in logs if (match := _STAGE.match(PurePosixPath(log).name)))
    for own in grouped((PurePosixPath(log).parent, (log, *match.groups())) for log, match in found).values():
        kinds = {(int(number), words) for _, number, words in own}
        numbers = sorted({number for number, _ in kinds})
        have_gaps = numbers[-1] - numbers[0] >= len(numbers) > 1
        if have_gaps and len(kinds) == len(numbers) == len({words for _, words in kinds}):
            stages |= {log for log, number, _ in own if worker_of(log) == f"worker:{int(number)}"}
    return stages


def _is_of_a_host(name: str) -> bool:
    return is_kernel_log(name) and HOST.search(name.lower()) is not None


def statements(facts: pl.DataFrame) -> Statements:
    """Return source → its statements; a fact without a line gets line 0."""
    wanted = facts.filter(pl.col("key").is_in(_KEYS)).select("source", "line", "key", "value", "worker")
    rows = wanted.iter_rows()
    return grouped((source, Statement(line or 0, *stated)) for source, line, *stated in rows)


def with_rows(tables: Tables, sources: Iterable[str]) -> set[str]:
    """Return those of the given sources from which any table has a row."""
    wanted = set(sources)
    frames = [frame["source"] for name, frame in tables.items() if name != "sources" and frame.height]
    if not wanted:
        return set()
    return {source for column in frames for source in column.unique() if source in wanted}


def training_logs(tables: Tables, logs: Iterable[str], messages: Messages) -> set[str]:
    """Return the logs that show training: progress, facts of their own, tracebacks or TensorFlow lines.

    Lines of Slurm, the report of another scheduler and a SIGTERM, which supervisors report too, do not count.
    Nor do, in the unlabelled lines of a log with labelled ones, facts and the exceptions that a launcher
    raises about its program; nor, beside ranks, what it prints as it imports TensorFlow; nor anything beside
    colours. Nor does a server of the tf.data service that is no task, or Spark's driver without progress.
    """
    wanted = list(logs)
    if not wanted:
        return set()
    labels = [name.rpartition("#") for name in tables["sources"]["source"]]
    labelled, ranked = {log for log, _, _ in labels}, [log for log, _, label in labels if label.isdigit()]
    coloured = {log for log, _, label in labels if label.startswith("colour ")}
    own = pl.col("source").is_in([name for name in wanted if name not in coloured])
    unlabelled = own & ~pl.col("source").is_in(list(labelled))
    launcher = messages.wording("of_launcher")
    raised = tables["records"].filter(own & (pl.col("kind") == "traceback"))
    of_program = [source not in labelled or not launcher.is_in(text)
                  for source, text in raised.select("source", "text").iter_rows()]  # fmt: skip
    of_another = pl.col("worker").is_not_null() | pl.col("key").str.starts_with(_EXIT_CODE_OF)
    facts = tables["facts"].filter(unlabelled & ~of_another & ~pl.col("key").is_in(_OF_ANYBODY))
    reports = facts.filter(pl.col("key").is_in(_JOB_IDS))["source"].to_list()
    reported = pl.col("source").is_in(reports) & pl.col("key").is_in(_OF_REPORT)
    shown = (
        tables["records"].filter(own & (pl.col("kind") == "cpp") & ~pl.col("source").is_in(ranked)),
        raised.filter(pl.Series(of_program, dtype=pl.Boolean)),
        tables["scalars"].filter(own & (pl.col("origin") != GAUGE)),
        facts.filter(~reported),
    )
    serving = tables["facts"].filter(own & (pl.col("key") == "data_service"))["source"]
    tasks = tables["facts"].filter(own & pl.col("key").is_in(_OF_TASK))["source"]
    driving = tables["facts"].filter(own & (pl.col("key") == "spark_driver"))["source"]
    found = {source for rows in shown for source in rows["source"].unique()}
    progress = {*tables["scalars"]["source"]}
    return found - ({*serving} - {*tasks}) - ({*driving} - {*tasks} - progress)


def without_job_ids(
    sources: Sequence[NamedSource], facts: pl.DataFrame, training: Collection[str], tasks: AbstractSet[str]
) -> list[NamedSource]:
    """Return the sources, without the number of a log that is the job's id, or of the report of the job.

    The report of the job is the only one, in a log that is not of `training`. The id stays where it is the
    index of one of the `tasks`, or low enough to be one.
    """
    rows = facts.filter(pl.col("key").is_in(_JOB_IDS)).select("source", "value").drop_nulls().rows()
    numbers = ((source, _NUMBERS.match(value)) for source, value in rows)
    ids = {(source, f"worker:{int(number[0])}") for source, number in numbers if number}
    reports = {source for source, _ in ids}
    whole = reports - {*training} if len(reports) == 1 else set()
    logs = [each for each in sources if each.is_log]
    nameless = {
        each.name
        for each in logs
        if each.worker and each.name in reports and is_vague(each.name) and each.worker not in tasks
        if (each.name, each.worker) in ids and split_task(each.worker)[1] > len(logs)
    } | {each.name for each in logs if each.name in whole and is_vague(each.name)}
    return [each._replace(worker=None) if each.name in nameless else each for each in sources]


@lru_cache(maxsize=1 << 16)
def is_vague(name: str) -> bool:
    """Return True if the name of a log or stream has a number but no role, or the number of a host.

    A rank that a launcher puts before lines, a stream of digits only, is a task's index, not such a number.
    """
    whole, _, part = name.rpartition("#")
    return (is_numbered(part) and not (whole and part.isdigit())) or host_in(name) is not None
