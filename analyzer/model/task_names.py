"""Parses, formats and sorts names of workers, attempts and training positions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import PurePath, PurePosixPath

from analyzer.model.source_kinds import Kind

_VERTEX = re.compile(r"(?<![a-z])workerpool(?P<pool>[0-3])-(?P<index>\d{1,5})(?!\d)")
_POOLS = ("chief", "worker", "ps", "evaluator")
"""Role of each worker pool of Vertex AI, by the number of the pool."""
_FROM_ONE = {"algo"}
"""Roles numbered from 1 instead of 0: SageMaker calls its first host `algo-1`."""
_ROLES = {
    "worker": "worker", "chief": "chief", "master": "chief", "ps": "ps", "evaluator": "evaluator",
    "rank": "worker", "task": "worker", "node": "worker", "replica": "worker", "algo": "worker",
    "host": "worker", "process": "worker", "proc": "worker",
}  # fmt: skip
_TASK = re.compile(r"(?<![a-z])(?P<role>" + "|".join(_ROLES) + r")(?:[-_.: ]?(?P<index>\d{1,5}))?(?![a-z\d])")
_HOST = re.compile(r"(?<![a-z])(?P<host>(?:node|host)[-_.: ]?\d{1,5})(?![a-z\d])")
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d(?P<between>[-_.]?)(?:0\d|1[0-2])(?P=between)[0-3]\d|[0-3]\d[-_.][01]\d[-_.]20\d\d)"
    r"(?:[-_.t ]+[0-2]\d[-_.:]?[0-5]\d(?:[-_.:]?[0-5]\d)?)?(?!\d)"
)
_ADDRESS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)|(?<![a-z])ip(?:-\d{1,3}){4}(?!\d)")
"""Regex for an address in a name, as `10.0.3.6` or `ip-10-0-3-6`: its numbers are no index."""
_QUANTITY = re.compile(
    r"(?<![a-z\d.])\d{1,5}[-_ ]?(?:gpus?|cpus?|cores?|gb|epochs|hosts|machines|nodes|procs|processes|ranks"
    r"|replicas|servers|steps|tasks|threads|workers)(?![a-z\d])"
)
"""Regex for how many there are of something in a name, as `4gpus` or `2-servers`: no index."""
_LIST = re.compile(r"tasks (\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?){0,4096})")
_MAX_LISTED = 4_096
"""Limit for the length of one range in a list of tasks."""
_BARE_INDEX = re.compile(r"(?:^|[-_.@])(\d{1,4})(?:[-_.]|$)")
_STAGE = re.compile(r"^\d{1,4}[-_.](?!of|out)(?=[a-z].*[-_.]\d{1,4}$)")
"""Regex for a number before a name that ends with another one, as in Azure's `70_driver_log_0`."""
_OF_NOMAD = re.compile(r"(?:^|/)alloc/(?:[^/]+/)*[^/]+\.std(?:out|err)\.\d+$")
"""Regex for a part of what Nomad keeps of a task's output; part 0 is the oldest."""
_CHANNEL = re.compile(r"(?<![a-z])(?:std)?(?:out|err)(?![a-z])")
_OF_PARTITION = re.compile(r"(?:^|/)[A-Za-z_]\w*=[^/]+/(?:[^/]+/)*part(?P<number>-\d{4,6})[^/]*$")
"""Regex for a part of what a collector stores below directories such as `host=gpu7/date=2026-11-26`."""
_OF_GANG = re.compile(r"(?:^|/)attempt[-_]?\d{1,4}/(?P<rank>\d{1,5})/std(?:out|err)(?:\.\w{1,4})?$")
"""Regex for a log in torchrun's layout: a folder an attempt, in it one a rank."""
_OF_NEC = re.compile(r"(?:^|/)std(?:out|err)\.\d{1,5}:(?P<rank>\d{1,5})$")
"""Regex for what NEC MPI keeps of a rank's output: the number of the universe, then the rank."""
_SLURM_JOB = re.compile(r"(?<![a-z])slurm-\d+")
_PART_OF_JOB = r"(?:worker|chief|master|ps|evaluator|rank|task|pod|node|host)(?![a-z])"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "1st", "2nd", "3rd", "4th", "5th")
_ATTEMPT = re.compile(
    r"(?<![a-z])(?:(?:attempts?(?:[-_ =.]?|/)|(?:(?:re)?try|life|intento|tentativ[ae]|versuch)[-_ =]?)"
    r"(?P<attempt>\d{1,4})"
    rf"|(?P<ordinal>{'|'.join(_ORDINALS)})[-_ ]?(?:attempt|try)(?![a-z])"
    rf"|restart(?:ed)?(?:[-_ ]?(?P<restart>\d{{1,4}})|(?![a-z]|[-_](?!{_PART_OF_JOB})[a-z]))"
    r"|(?:requeued?|resubmit(?:ted)?|relaunch(?:ed)?)[-_ ]?(?P<again>\d{1,4}))(?!\d)"
    r"|(?:worker|chief|master|ps|evaluator)-\d{1,6}\.(?P<recording>\d{1,4})/",
)
_KERNEL_LOG = re.compile(r"(?:^|[/._-])(?:kernel|kern|dmesg)(?:[-_.][^/]*)?$")
_PREVIOUS = re.compile(r"(?<![a-z])prev(?:ious)?(?![a-z])")
ARCHIVE_SUFFIX = re.compile(
    r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz|zst)|eml|mbox|mht(ml)?|odt|docx)$", re.IGNORECASE
)
"""Regex for names of archives, and of mails, saved pages and documents, whose parts are unpacked alike."""
MAIL_SUFFIXES = frozenset({".eml", ".mbox", ".mht", ".mhtml"})
"""Suffixes of mails, and of pages that a browser saved in the form of a mail."""
OFFICE_SUFFIXES = frozenset({".odt", ".docx"})
_OF_ROTATION = (
    r"(?:(?<=[A-Za-z])\.(?P<number>\d{1,3})"
    r"|(?:(?<=\.log|\.out|\.err)[-._]|(?<=stdout|stderr)--)"
    r"(?P<date>(?:19|20)\d\d-?[01]\d-?[0-3]\d(?:(?:--|[-_T.])?[0-2]\d(?:[-_.:]?[0-5]\d){0,2})?))"
)
"""Regex for what logrotate, Python's handlers and Spark append to the name of an older part: a number, or a
date, as in `stderr--2026-11-21--05-00`."""
_PART = re.compile(rf"{_OF_ROTATION}?(?:\.(?:gz|zst|xz|bz2))?$")
_ROTATED = re.compile(rf"{_OF_ROTATION}(?:\.(?:gz|zst|xz|bz2))?$")
_DIGITS_OF_DATE = 14
"""Digits of a date with a time to the second."""
_AFTER_ALL_DATES: int = 10**14
_MAX_DIGITS = 25
"""More digits than an index, a rank or a date in a name has."""
_ORDER = {"chief": 0, "worker": 1, "ps": 2, "evaluator": 3}


class Basis(StrEnum):
    """How the worker of a log was identified if its name does not state it."""

    SAID = "by the task that it says it is"
    AGAINST_NAME = "by the task that it says it is, which is not that in its name"
    ADDRESS = "by the address of its server"
    COUNTED_FROM_ZERO = "by the number in its name, counted from 0"
    NUMBER = "by the number in its name"
    POD = "by the number in its name, which is that of its pod or its TF_CONFIG"
    PEERS = "by what the logs say of their peers"
    ORDER = "by the order of the files"


GUESSES = frozenset({Basis.COUNTED_FROM_ZERO, Basis.NUMBER, Basis.PEERS, Basis.ORDER})
"""Bases that make an index a guess: nothing that the worker wrote confirms it."""


def printable(name: str) -> str:
    """Return a file name with question marks in place of bytes that are not UTF-8."""
    return name.encode("utf-8", "replace").decode()


def is_archive(path: PurePath) -> bool:
    """Return True if the file name has an archive suffix."""
    return bool(ARCHIVE_SUFFIX.search(path.name))


def worker_of(name: str, kind: Kind = Kind.LOG) -> str | None:
    """Return the task in a path, innermost part first: `logs/chief/stderr.txt` is `chief:0`.

    Numbers in dates, addresses, quantities and ids of Slurm jobs are ignored; `stdout.1` is of worker 1, if
    it is no rotated part.
    """
    name = _SLURM_JOB.sub("slurm", _ADDRESS.sub("address", _DATE.sub("", name.lower())))
    *folders, own = name.split("/")
    parts = [own, *reversed(folders)]
    if kind in {Kind.EVENT_FILE, Kind.TRACE, Kind.RECORDING}:
        # These hold a host's name or a process id: `node-3` is a host, `process-412` no task.
        parts = [*reversed(folders), *([own] if kind is not Kind.RECORDING else [])]
    named = next((task for part in parts for task in _tasks(part)), None)
    if named or kind not in {Kind.LOG, Kind.TF_CONFIG, Kind.ENVIRONMENT}:
        return named
    own = _QUANTITY.sub("quantity", own)
    stem = _STAGE.sub("", PurePosixPath(own).stem)
    bare = _BARE_INDEX.search(stem) or _BARE_INDEX.search(own)
    bare = bare or _OF_GANG.search(name) or _OF_NEC.search(name)
    return f"worker:{int(bare[1])}" if bare else None


def listed_workers(names: str) -> list[str]:
    """Return the tasks that a launcher lists: `task 3`, `rank 1`, or Slurm's `tasks 0,2-3`."""
    if not (several := _LIST.fullmatch(names)):
        return [task] if (task := worker_of(names)) else []
    ranges = (part.partition("-") for part in several[1].split(","))
    ends = [(int(first), int(last or first)) for first, _, last in ranges]
    return [f"worker:{index}" for first, last in ends for index in range(first, last + 1)[:_MAX_LISTED]]


def _tasks(part: str) -> Iterator[str]:
    """Return the tasks in one part of a path."""
    for match in _VERTEX.finditer(part):
        yield f"{_POOLS[int(match['pool'])]}:{int(match['index'])}"
    for match in _TASK.finditer(part):
        if match["index"] is not None or match["role"] in {"chief", "master"}:
            first = 1 if match["role"] in _FROM_ONE else 0
            yield f"{_ROLES[match['role']]}:{max(int(match['index'] or 0) - first, 0)}"


def role_in(name: str) -> str | None:
    """Return the one role that a name states without an index: `ps` of `census-ps`; else None."""
    stated = {(_ROLES[match["role"]], match["index"]) for match in _TASK.finditer(name.lower())}
    roles = [role for role, index in stated if index is None]
    return roles[0] if len(stated) == len(roles) == 1 else None


def is_numbered(name: str) -> bool:
    """Return True for a log like `out-3.txt`: its name has a number but no role, so worker 3 is a guess."""
    return worker_of(name, Kind.OTHER) is None and worker_of(name) is not None


def host_in(name: str) -> str | None:
    """Return the host in a name that states no task besides it: `node1` of `node1/out.log`; else None."""
    hosts = list(_HOST.finditer(name.lower()))
    rest = _HOST.sub("", name.lower())
    return hosts[-1]["host"] if hosts and worker_of(rest, Kind.OTHER) is None else None


def names_host(text: str, host: str) -> bool:
    """Return True if a text, both in lower case, has a host's name that is no part of a longer word."""
    return host in text and re.search(rf"(?<![a-z0-9]){re.escape(host)}(?![a-z0-9])", text) is not None


def attempt_of(name: str) -> int | None:
    """Return the number of the attempt in a file's name, counted from 1; None if the name has none.

    `restart-1` is attempt 2; so is `worker-0.2/`, as mwms-recorder names the second attempt.
    """
    match = _ATTEMPT.search(name.lower())
    if not match:
        return None
    if match["ordinal"]:
        return 1 + _ORDINALS.index(match["ordinal"]) % 5
    numbered = match["attempt"] or match["recording"]
    return int(numbered) if numbered else 1 + int(match["restart"] or match["again"] or 1)


def attempts_in(name: str) -> list[str]:
    """Return all words in a file's name that number attempts: two, where one is nested in the other."""
    return [match[0] for match in _ATTEMPT.finditer(name.lower())]


def without_attempt(name: str) -> str:
    """Return a name without its attempt, so that the names of a worker's attempts are equal."""
    match = _ATTEMPT.search(name.lower())
    return name[: match.start()] + name[match.end() :] if match else name


def without_date(name: str) -> str:
    """Return a name, in lower case, without the dates and times in it."""
    return _DATE.sub("", name.lower())


def without_task(name: str, *, numbers: bool = False) -> str | None:
    """Return a file name without task, channel, numbers and last suffix: `bert` of `bert-worker-0.log`.

    Equal for the logs of a job's workers; None for a name without a task. With `numbers`, these stay.
    """
    stem = _stem(log_of(name.lower()))
    words, tasks = _TASK.subn("", _CHANNEL.sub("", stem))
    return "-".join(re.findall(r"[^\W_]+" if numbers else r"[^\W\d_]+", words)) if tasks else None


def words_before_task(name: str) -> str | None:
    """Return the words before the task in a file's name, `bert` of `bert-worker-0-x8k.log`, or None."""
    stem = _stem(without_attempt(without_date(name)))
    task = _TASK.search(stem)
    return "-".join(re.findall(r"[^\W\d_]+", stem[: task.start()])) if task and task["index"] else None


def _stem(name: str) -> str:
    """Return a file's name without folder and last suffix; of a stream `FILE#LABEL`, its label."""
    file, _, label = name.partition("#")
    return label or PurePosixPath(file).stem


def is_previous(name: str) -> bool:
    """Return True for the name of a previous attempt's log, as `kubectl logs --previous` writes it."""
    return bool(_PREVIOUS.search(name.lower()))


def is_kernel_log(name: str) -> bool:
    """Return True for the name of a host's kernel log, such as `kernel.log` or `gpu21/dmesg.txt`."""
    return bool(_KERNEL_LOG.search(name.lower()))


def log_of(name: str) -> str:
    """Return the name of a source without rotation and compression suffixes, or the number of a part."""
    file, mark, stream = name.partition("#")
    if found := _OF_PARTITION.search(file):
        file = file[: found.start("number")] + file[found.end("number") :]
    return _PART.sub("", file) + mark + stream


def is_rotated(name: str) -> bool:
    """Return True for an older part of a rotated log, such as `worker-0.log.1.gz`."""
    return _ROTATED.search(name.partition("#")[0]) is not None


def order_of_part(name: str) -> int:
    """Return a number that is lower for an older part of a rotated log; 0 for a log that is no part."""
    rotated = _ROTATED.search(name)
    if rotated is None:
        return 0
    if date := rotated["date"]:
        return int(re.sub(r"\D", "", date).ljust(_DIGITS_OF_DATE, "0")) - _AFTER_ALL_DATES
    number = int(rotated["number"])
    return number if counts_up(name) else -number


def counts_up(name: str) -> bool:
    """Return True for a part that is newer than those with lower numbers, as of Nomad or in partitions."""
    return _OF_NOMAD.search(name) is not None or _OF_PARTITION.search(name) is not None


def in_order(tasks: Iterable[str]) -> list[str]:
    """Sort tasks: chief, workers by index, parameter servers, evaluator."""
    return sorted(set(tasks), key=order)


def order(task: str) -> tuple[int, str, int]:
    """Return the sort key of `in_order`."""
    role, index = split_task(task)
    return (_ORDER.get(role, 4), role, index)


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key of names that compares the numbers in them as numbers."""
    return [
        (int(part), "") if part.isdecimal() and len(part) < _MAX_DIGITS else (-1, part)
        for part in re.split(r"(\d+)", name)
    ]


def split_task(task: str) -> tuple[str, int]:
    """Return role and index of a task."""
    role, _, index = task.partition(":")
    return role, int(index) if index.isdecimal() and len(index) < _MAX_DIGITS else 0


def is_task(text: str) -> bool:
    """Return True if a text is a task with a role that TensorFlow knows."""
    role, _, index = text.partition(":")
    return role in _ORDER and index.isdecimal()


DEVICE = r"/job:(?P<role>[a-z_]+)(?:/replica:\d+)?/task:(?P<index>\d{1,9})(?!\d)"
"""A regex for a task as TensorFlow's C++ runtime spells it."""


def position(epoch: int | None, step: int | None) -> str:
    """Format a training position: `epoch 2, step 14`, or `the start of epoch 2` at its step 0."""
    if epoch and step == 0:
        return f"the start of epoch {epoch}"
    parts = [f"{name} {number}" for name, number in (("epoch", epoch), ("step", step)) if number is not None]
    return ", ".join(parts) or "a point before its first step"


def listed(workers: Sequence[str]) -> str:
    """Return the workers joined: `worker:1`, `worker:1 and worker:2`, `worker:1, worker:2 and 3 more`."""
    if len(workers) <= 1:
        return "".join(workers)
    if len(workers) > 4:
        return ", ".join(workers[:3]) + f" and {len(workers) - 3} more"
    return ", ".join(workers[:-1]) + f" and {workers[-1]}"


def device_of(task: str) -> str:
    """Format a task like TensorFlow's C++ runtime: `/job:worker/replica:0/task:1`."""
    role, index = split_task(task)
    return f"/job:{role}/replica:0/task:{index}"


def tasks_in(text: str) -> list[str]:
    """Return the tasks that a text contains in the format of TensorFlow's C++ runtime."""
    return [task_of(match) for match in re.finditer(DEVICE, text)]


def task_of(device: re.Match[str]) -> str:
    """Return the task that a match of `DEVICE` names; JAX's role `jax_worker` becomes `worker`."""
    return f"{device['role'].removeprefix('jax_')}:{device['index']}"
