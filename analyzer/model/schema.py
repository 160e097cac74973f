"""The tables: every column that a rule may name, its type, unit and meaning.

`Tables` maps a name of `TABLES` to a polars frame with exactly the columns declared here, in this order.
Times are seconds since 1970-01-01 UTC. A null says "the files do not tell", never "no".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

LARGEST_INT = 2**63 - 1
"""The largest number that a column of type `int` holds."""


class Column(NamedTuple):
    """One column: its type is a key of `frames.DTYPES`."""

    name: str
    type: str
    meaning: str


_WORKER = Column("worker", "text", "the task that it belongs to, `role:index`; null where nothing tells")
_ATTEMPT = Column("attempt", "int", "which life of the worker, from 1")
_SOURCE = Column("source", "text", "name of the file, relative to the run")
_LINE = Column("line", "int", "line of the source, from 1")
_TIME = Column("time", "time", "when; of a line that carries no time, null")
_PLACE = (_WORKER, _ATTEMPT, _SOURCE, _LINE)

SOURCES = (
    _SOURCE,
    Column(
        "kind", "text", "what it was read as: log, tf_config, exit_codes, event_file, trace, ..., or other"
    ),
    _WORKER,
    _ATTEMPT,
    Column("bytes", "int", "size on disk"),
    Column("lines", "int", "lines read, for a text"),
    Column("first_time", "time", "earliest time stamp in it"),
    Column("last_time", "time", "latest time stamp in it"),
    Column("read", "text", "complete, partial or skipped"),
    Column("reason", "text", "why it was not read whole; else empty"),
    Column("thinned", "text", "which lines were read, of a log too large to read them all; else empty"),
)

RECORDS = (
    *_PLACE,
    Column("last_line", "int", "last line of the record"),
    _TIME,
    Column("near", "time", "the record's own time, else that of the nearest earlier record of the source"),
    Column("level", "text", "I, W, E or F as printed; null for plain output"),
    Column("kind", "text", "cpp, python, traceback, progress or plain"),
    Column("origin", "text", "source file or logger that printed it; null for plain output"),
    Column("text", "text", "the whole record, cleaned of control codes; the middle of a huge one is cut"),
)

MATCHES = (
    Column("pattern", "text", "`rule/signal` that it matches"),
    *_PLACE,
    _TIME,
    Column("kind", "text", "kind of the record"),
    Column("excerpt", "text", "the line that matched"),
    Column("start", "int", "where in the excerpt the match begins, in characters"),
    Column("end", "int", "where in the excerpt the match ends"),
    Column("captures", "text", "named groups of the rule's regex, as JSON"),
    Column("after_end", "bool", "printed after its worker had reached the planned end"),
    Column("tensorflow", "text", "TensorFlow version of its worker, else of the run where all are alike"),
)

SCALARS = (
    *_PLACE,
    Column(
        "tag",
        "text",
        "what was measured, as named in the log or event file; `step` and `epoch` are marks. What lies in a "
        "TensorBoard folder for validation has that folder in front, `validation/epoch_loss`. A reading of "
        "the machine ends with its unit: `cpu_percent`, `rss_bytes`, `gpu0/memory_used_bytes`",
    ),
    Column("epoch", "int", "epoch, from 1 as printed; null where none is printed"),
    Column("epochs", "int", "epochs planned"),
    Column("step", "int", "step; under `fit` within the epoch"),
    Column("steps", "int", "steps planned, under `fit` in one epoch"),
    _TIME,
    Column("value", "number", "the value; NaN and infinities are kept"),
    Column("scope", "text", "global (all-reduced), local (of one replica) or unknown"),
    Column("origin", "text", "fit, loop, estimator, event_file, or gauge: a reading of the machine"),
)

SPANS = (
    _WORKER,
    _SOURCE,
    Column(
        "kind",
        "text",
        "collective, step, function (one call of a tf.function), input, copy, compile or compute (one "
        "stretch in which any thread of the worker computes)",
    ),
    Column("name", "text", "name of the event"),
    Column("start", "time", "when it began; since the profile began where `absolute` is false"),
    Column("end", "time", "when it ended; null while it was still open"),
    Column("step", "int", "step, where the trace tells"),
    Column("instance", "int", "key of a collective, the same on all workers for the same collective"),
    Column("thread", "text", "thread that it ran on"),
    Column("absolute", "bool", "whether its times count from 1970"),
)

FACTS = (
    *_PLACE,
    _TIME,
    Column("key", "text", "what is stated; see docs/tables.md"),
    Column("value", "text", "as stated"),
)

DAMAGE = (
    _SOURCE,
    Column("offset", "int", "byte where it begins"),
    Column("length", "int", "bytes lost; null where unknown"),
    _LINE,
    Column("what", "text", "what is wrong with it"),
)

WORKERS = (
    _WORKER,
    Column("role", "text", "worker, chief, ps or evaluator"),
    Column("index", "int", "index within the role"),
    Column("expected", "bool", "the cluster lists it"),
    Column("seen", "bool", "it left a log, event file or trace"),
    Column("logged", "bool", "it left a log"),
    Column("trains", "bool", "its role takes part in training steps (chief or worker)"),
    Column("leader", "bool", "it hosts the coordination service: the chief, else task 0"),
    Column("host", "text", "host it ran on"),
    Column("address", "text", "host:port that the cluster gives it"),
    Column("claims", "text", "task that it says it is"),
    Column("identity_conflict", "bool", "it says that it is another task than the one it was collected as"),
    Column("shares_claim", "bool", "another worker says that it is the very same task"),
    Column("outside", "bool", "it says that it is a task which its own cluster does not list"),
    Column("configured", "bool", "a cluster with other tasks was stated to it, by TF_CONFIG or in its log"),
    Column("serves", "bool", "it says that it started the server which its peers connect to"),
    Column("tensorflow", "text", "TensorFlow version"),
)

CLOCKS = (
    _WORKER,
    Column("kind", "text", "which of its files the clock dates: log or event_file"),
    Column(
        "basis", "text", "steps: the steps that it finished together with the others; none: nothing tells"
    ),
    Column("steps", "int", "steps that were compared"),
    Column("offset", "number", "seconds by which it is ahead of its peers; null where that is unknown"),
    Column("residual", "number", "seconds within which nine in ten of the shared steps agree with that"),
    Column("shift", "number", "what is taken off its times before they are compared with those of others"),
)

EXCEPTIONS = (
    *_PLACE,
    Column(
        "time", "time", "the earliest time at which it can have been printed, as the lines before it tell"
    ),
    Column("until", "time", "the latest time at which it can have been printed, as the lines behind it tell"),
    Column("type", "text", "exception class, without its module"),
    Column("message", "text", "its message, cut to 2,000 characters"),
    Column("says", "text", "the line that ends the traceback, as it stands there"),
    Column(
        "own", "bool", "raised by this worker's own doing; false where it only passes on a peer's failure"
    ),
    Column("final", "bool", "nothing but noise follows it in this life of the worker"),
    Column("frame", "text", "deepest frame in the user's own code, `file:line in function`"),
    Column(
        "via", "text", "input, collective, strategy, save, restore, callback or null: where it passed through"
    ),
)

ACCUSATIONS = (
    Column("accuser", "text", "worker that printed it"),
    Column("worker", "text", "worker that it names"),
    _SOURCE,
    _LINE,
    _TIME,
    Column(
        "kind",
        "text",
        "transport, heartbeat, down, deadline, cancelled, leader, absent, restarted or unresolved",
    ),
    Column("method", "text", "gRPC method that was being called, where the line tells"),
    Column("says", "text", "the words of the log"),
    Column(
        "start",
        "int",
        "where in them the accused is named, in characters; null where its name is not spelled out",
    ),
    Column("end", "int", "where its name ends"),
    Column(
        "counts", "bool", "false where accused or accuser had finished before, or it only passes on another's"
    ),
)

LIFETIMES = (
    _WORKER,
    Column("trains", "bool", "takes part in training steps"),
    Column("leader", "bool", "hosts the coordination service"),
    Column("attempts", "int", "lives that the files show; 0 for a worker that left no source"),
    Column("seen", "bool", "it left a log, event file or trace, and that was handed over"),
    Column("logged", "bool", "a log of it was handed over"),
    Column(
        "started", "bool", "its files, its exit code or its peers show that it ran; null where nothing tells"
    ),
    Column("phase", "text", "absent, starting, server_up, joined, training or finished: how far it came"),
    Column(
        "ended",
        "text",
        "finished, exception, aborted_by_peer, signal, exited, vanished, stopped, running, never_started "
        "or unknown",
    ),
    Column("sure", "bool", "its end is written down (exit code, traceback, closing line), not inferred"),
    Column("exit_code", "int", "exit code; negative for a signal"),
    Column("signal", "int", "signal number that ended it"),
    Column("sigterm", "bool", "TensorFlow says that it caught SIGTERM"),
    Column("went_on", "bool", "it made progress after it had caught SIGTERM"),
    Column("first_seen", "time", "first sign of life, on the common clock"),
    Column("joined", "time", "when the cluster accepted it, on the common clock"),
    Column("last_seen", "time", "last sign of life, on the common clock"),
    Column("epoch", "int", "last epoch it shows"),
    Column("step", "int", "last step it shows"),
    Column("place", "text", "both in words, `epoch 2, step 14`, or `a point before its first step`"),
    Column(
        "behind", "int", "steps that it is behind the foremost training worker; null where not comparable"
    ),
    Column(
        "ahead_of_all", "bool", "it alone is ahead of every other training worker; null where not comparable"
    ),
    Column("behind_all", "bool", "it alone is behind every other training worker; null where not comparable"),
    Column("own_exception", "bool", "it raised an exception of its own doing"),
    Column("no_exception", "bool", "its log ends without any error of its own"),
    Column("replicas", "int", "replicas that it says are in sync"),
    Column("restarted", "bool", "it shows more than one life"),
    Column(
        "planned_end", "bool", "it reached the last epoch and step that it planned, where it says the plan"
    ),
    Column("end_source", "text", "where it says that it reached its end"),
    Column("end_line", "int", "the line that says so"),
    Column("end_time", "time", "when it said so at the latest, as the lines behind it tell"),
)

SILENCES = (
    _WORKER,
    Column("since", "time", "its last own progress, or last sign of life where it made none; common clock"),
    Column(
        "seconds",
        "number",
        "from then to the last sign of life of any worker, as far as clocks can be compared",
    ),
    Column("pause", "number", "longest pause that it made between two places in training"),
    Column("silent", "bool", "quiet for some seconds, and for longer than in any pause before"),
    Column("first", "bool", "it alone fell quiet before all its peers, by step or else by time"),
    Column(
        "compared", "bool", "its clock is known to agree with, or could be aligned to, those of its peers"
    ),
)

BARRIERS = (
    Column(
        "barrier",
        "text",
        "startup, step (the last one that any worker finished), checkpoint (the last one) or end",
    ),
    Column("place", "text", "of a step, which one: `epoch 2, step 14`; of a checkpoint, its name"),
    _WORKER,
    Column("arrived", "bool", "it came there; false where it was awaited, null where the files do not tell"),
    _SOURCE,
    _LINE,
    Column("time", "time", "when it was last seen there or before, on the common clock"),
)

SERIES = (
    _WORKER,
    _ATTEMPT,
    Column("tag", "text", "what was measured, as the log calls it where it tells it"),
    Column("epoch", "int", "epoch, from 1; null where none is told"),
    Column("step", "int", "step; under `fit` within the epoch"),
    _TIME,
    Column("value", "number", "the value, of the event file where that has it, with all its digits"),
    Column("printed", "number", "the value as the log prints it; null where it does not"),
    Column("scope", "text", "global (all-reduced), local (of one replica) or unknown"),
    Column("origin", "text", "both, event_file, or what kind of log: fit, loop or estimator"),
    Column("written_as", "text", "tag under which the event file has it, where both tell it"),
    Column(
        "agree",
        "bool",
        "of both: log and event file tell the same value, to a thousandth, below 0.1 to a ten-thousandth; "
        "null where not both tell a finite one",
    ),
    _SOURCE,
    _LINE,
)

CURVES = (
    _WORKER,
    Column("tag", "text", "what was measured"),
    Column("scope", "text", "global, local or unknown"),
    Column("origin", "text", "fit, loop, estimator, event_file or gauge"),
    Column("points", "int", "values read"),
    Column("first_value", "number", "first value"),
    Column("last_value", "number", "last value"),
    Column("max_value", "number", "largest finite value"),
    Column("growth", "number", "largest finite value over the first one"),
    Column("last_growth", "number", "last value over the first one"),
    Column("spread", "number", "distance of the largest to the smallest finite value, over the first one"),
    Column(
        "fall",
        "number",
        "how far the median of the later half lies under that of the first three values, in units of what "
        "neighbouring values differ by; null for fewer than 20 values",
    ),
    Column(
        "from_start",
        "bool",
        "it begins at the first step, of the first epoch, and its worker was not restarted",
    ),
    Column("jump", "number", "the largest ratio of a value to the one before it, of values above zero"),
    Column("jump_step", "int", "step of that value"),
    Column("jump_from", "number", "the value before it"),
    Column("jump_to", "number", "the value itself"),
    Column("nonfinite", "int", "how many values are NaN or infinite"),
    Column("nonfinite_epoch", "int", "epoch of the first value that is not finite"),
    Column("nonfinite_step", "int", "its step"),
    Column("nonfinite_line", "int", "its line in the log"),
    Column("nonfinite_source", "text", "its source"),
    Column("finite_epoch", "int", "epoch of the last finite value before it"),
    Column("finite_step", "int", "its step"),
    Column("finite_value", "number", "the value itself"),
    Column("nonfinite_first", "bool", "it alone has the first value that is not finite"),
    Column("common", "int", "steps that it shares with every other worker that has this tag"),
    Column("equal", "int", "shared steps at which all workers print the very same value"),
    Column("unequal", "int", "shared steps at which the workers' values differ"),
    Column("left_epoch", "int", "last epoch of its life before the last restart; null where there was none"),
    Column("left_step", "int", "last step of that life"),
    Column("resumed_epoch", "int", "epoch of the first value after the restart"),
    Column("resumed_step", "int", "its step"),
    Column("resumed_value", "number", "the value itself"),
    Column(
        "resumed_growth",
        "number",
        "that value over the one of the same step before the restart, or over the last one where that step "
        "had not been reached",
    ),
    Column("anew", "bool", "after the restart it began where it had begun before it"),
    Column(
        "resumed_lost",
        "number",
        "how much of what had been learnt the first value after the restart lacks: 0 where it is that of the "
        "last ten values before it, 1 where it is that of the start; null where too few values tell",
    ),
    Column(
        "resumed_rise",
        "number",
        "how far the lower of the first two values after it lies above the largest of those ten, in units of "
        "what neighbouring values differ by; of several restarts, all these columns tell of the one with the "
        "largest",
    ),
    Column("both", "int", "values that the worker's log and its event file both tell"),
    Column("apart", "int", "of these, values that differ by more than a log rounds"),
    Column("apart_share", "number", "the same as a share of them; null where there are none"),
    Column("apart_step", "int", "step of the first value that differs"),
    Column("apart_value", "number", "that value in the event file"),
    Column("apart_printed", "number", "that value in the log"),
    Column(
        "logged",
        "bool",
        "of an event file: the worker's log prints the same values, so these add none; null of logs",
    ),
    Column("each_writes", "bool", "every training worker writes this tag to event files of its own"),
)

PACES = (
    _WORKER,
    Column("steps", "int", "steps of which event files, or else a dated log, tell how long they took"),
    Column("step_time", "number", "seconds of a step, median"),
    Column("changes", "int", "how often the time of a step changed for good, by half or more"),
    Column("changed_step", "int", "first step after the largest of these changes; null where there was none"),
    Column("before", "number", "seconds of a step before it, median"),
    Column("after", "number", "seconds of a step after it, median"),
    Column("factor", "number", "the latter over the former"),
    Column("last_event", "time", "its last value in an event file"),
    Column("last_log", "time", "latest time stamp of its logs"),
    Column("event_behind", "number", "seconds by which its log goes on after its last event"),
    Column("evaluations", "int", "evaluations that its event files or its log date"),
    Column("evaluation_gap", "number", "seconds from one evaluation to the next, median"),
    Column("longest_gap", "number", "the longest of these"),
    Column("since_evaluation", "number", "seconds from the last evaluation to its last dated value"),
)

COLLECTIVES = (
    _WORKER,
    _SOURCE,
    Column("name", "text", "name of the operation"),
    Column("instance", "int", "its key, the same on all workers; null in traces of TensorFlow up to 2.8"),
    Column("step", "int", "step that it lies in, where the trace numbers steps"),
    Column("nth", "int", "which call of this name, from 1, in its step where steps are numbered"),
    Column(
        "start", "time", "when the worker entered it; since the profile began where the trace has no clock"
    ),
    Column("end", "time", "when it left; null where it was still in it when the profile ended"),
    Column("seconds", "number", "seconds that it was in it"),
    Column("workers", "int", "traced workers that were in this same collective"),
    Column("shared", "bool", "every traced worker was"),
    Column("last", "bool", "it entered last: it was in it for the shortest time of all"),
    Column(
        "caused_seconds", "number", "seconds for which the next to last waited for it; 0 if it was not last"
    ),
)

_OF_STEP = "seconds of the step, those taken by what stands before it left out, in which it"

STEPS = (
    _WORKER,
    _SOURCE,
    Column("nth", "int", "which whole step of the trace, from 1"),
    Column("step", "int", "its number; null where the trace numbers none and calls of a function are taken"),
    Column("start", "time", "when it began; since the profile began where the trace has no clock"),
    Column("seconds", "number", "seconds that it took: the sum of the six that follow"),
    Column("compile", "number", "seconds of the step in which it compiled"),
    Column("compute", "number", f"{_OF_STEP} computed; breaks of up to 20 microseconds are counted in"),
    Column("copy", "number", f"{_OF_STEP} copied from the host to a device"),
    Column("collective", "number", f"{_OF_STEP} was in a collective"),
    Column("input", "number", f"{_OF_STEP} waited for its next batch"),
    Column("idle", "number", "seconds of the step in which it did none of these"),
)

WAITS = (
    _WORKER,
    Column("collectives", "int", "collectives in its trace that every other traced worker shares"),
    Column("steps", "int", "whole steps in its trace"),
    Column(
        "step_time", "number", "seconds of a step, median; without steps, from one collective to the next"
    ),
    Column(
        "outside_factor",
        "number",
        "how many times as long a step of its takes by its event files or its log, median, as one that was "
        "traced: well above 1, the trace missed what makes the run slow",
    ),
    Column(
        "collective_share", "number", "share of the time, first to last collective, that it spends in them"
    ),
    Column("collective_percent", "number", "the same in percent, to one decimal"),
    Column("collective_seconds", "number", "the same in seconds"),
    Column("straggler_wait_share", "number", "share of the time for which the others wait for it"),
    Column("straggler_wait_percent", "number", "the same in percent, to one decimal"),
    Column("straggler_wait_seconds", "number", "the same in seconds; a trace of a few steps shows little"),
    Column("fastest_exit", "bool", "it alone waits less than half as long as each other worker"),
    Column("last", "int", "shared collectives that it entered last"),
    Column("last_percent", "number", "the same in percent of the shared collectives, to one decimal"),
    Column("caused_seconds", "number", "seconds for which the next to last waited for it, in all"),
    Column("open", "int", "collectives that began in its trace and did not end"),
    Column("open_seconds", "number", "seconds from the start of the first of these to the end of the trace"),
    Column("open_steps", "number", "the same in steps of `step_time`"),
    Column(
        "covers_end",
        "bool",
        "it was still being traced after its last progress, as logs and event files date that; null where a "
        "clock is missing",
    ),
    Column("compile_share", "number", "share of its steps in which it compiles"),
    Column("compile_percent", "number", "the same in percent, to one decimal"),
    Column("compute_share", "number", "share of its steps in which it computes"),
    Column("compute_percent", "number", "the same in percent, to one decimal"),
    Column("copy_share", "number", "share of its steps in which it copies to a device and does not compute"),
    Column("copy_percent", "number", "the same in percent, to one decimal"),
    Column(
        "exposed_share", "number", "share of its steps in which it is in a collective and does nothing else"
    ),
    Column("exposed_percent", "number", "the same in percent, to one decimal"),
    Column(
        "input_share",
        "number",
        "share of its steps in which it only waits for its input; without steps, of the traced time",
    ),
    Column("input_percent", "number", "the same in percent, to one decimal"),
    Column("idle_share", "number", "share of its steps in which it does none of these"),
    Column("idle_percent", "number", "the same in percent, to one decimal"),
)

CLUSTER = (
    Column("key", "text", "what is compared"),
    _WORKER,
    Column("value", "text", "what this worker states"),
    Column("majority", "text", "what most workers state; null where there is no majority"),
    Column("odd", "bool", "this worker alone differs from all others, who agree"),
    Column("equal", "bool", "all workers that state it state the same"),
    Column("same", "int", "workers that state this very value"),
    Column("stating", "int", "workers that state it"),
)

JOB = (
    Column("expected", "int", "tasks of the cluster, evaluators left out"),
    Column("seen", "int", "of these, tasks that left a source"),
    Column("unseen", "int", "of these, tasks that left none, or whose files were not handed over"),
    Column("no_files", "int", "of these, tasks of which nothing at all shows that they ever ran"),
    Column(
        "workers_leader_awaited",
        "int",
        "workers that the leader waited for in vain, though their own logs show them up",
    ),
    Column("trainers", "int", "tasks expected to train"),
    Column("finished", "int", "training workers that reached the planned end"),
    Column("all_finished", "bool", "every training worker reached it"),
    Column("stepped", "bool", "at least one training step was seen"),
    Column("joined", "int", "training workers that the cluster accepted"),
    Column("stalled", "bool", "no training worker ended by itself, and all fell quiet in mid-training"),
    Column("never_assembled", "bool", "no training step, and at least one worker waits for the cluster"),
    Column("waiting", "int", "workers that wait for the cluster at start-up"),
    Column("own_exceptions", "int", "workers with an exception of their own doing"),
    Column("errors", "int", "records of level E or F, and tracebacks, before the planned end"),
    Column("started", "time", "first sign of life of any worker"),
    Column("ended", "time", "last sign of life of any worker"),
    Column("strategy", "text", "tf.distribute strategy, where the files say it"),
    Column("hosts", "int", "different hosts named"),
    Column("positions", "int", "different last positions of the training workers"),
)

TABLES: Mapping[str, tuple[Column, ...]] = {
    "sources": SOURCES,
    "records": RECORDS,
    "matches": MATCHES,
    "scalars": SCALARS,
    "spans": SPANS,
    "facts": FACTS,
    "damage": DAMAGE,
    "workers": WORKERS,
    "clocks": CLOCKS,
    "exceptions": EXCEPTIONS,
    "accusations": ACCUSATIONS,
    "lifetimes": LIFETIMES,
    "silences": SILENCES,
    "barriers": BARRIERS,
    "series": SERIES,
    "curves": CURVES,
    "paces": PACES,
    "collectives": COLLECTIVES,
    "steps": STEPS,
    "waits": WAITS,
    "cluster": CLUSTER,
    "job": JOB,
}

VALIDATION = r"^(?:validation|valid|val|evaluation|eval(?:_\w+)?|test|dev)/"
"""Tags and TensorBoard folders under which a model is only tried out; its training stands elsewhere."""

GAUGE = "gauge"
"""Origin of scalars that are readings of the machine and no progress of the training."""

READ = ("sources", "records", "matches", "scalars", "spans", "facts", "damage")
"""The tables that ingest fills; all others are derived from them."""
