"""Columns of the tables that ingest fills."""

from __future__ import annotations

from analyzer.model.columns import ATTEMPT, LINE, PLACE, SOURCE, TIME, WORKER, Column

SOURCES = (
    SOURCE,
    Column(
        "kind", "text", "what it was read as: log, tf_config, exit_codes, event_file, trace, ..., or other"
    ),
    WORKER,
    ATTEMPT,
    Column("bytes", "int", "size on disk"),
    Column("lines", "int", "lines read, for a text"),
    Column("first_time", "time", "earliest time stamp in it"),
    Column("last_time", "time", "latest time stamp in it"),
    Column("read", "text", "complete, partial or skipped"),
    Column("reason", "text", "why it was not read whole; else empty"),
    Column("thinned", "text", "which lines were read, of a log too large to read them all; else empty"),
)

RECORDS = (
    *PLACE,
    Column("last_line", "int", "last line of the record"),
    TIME,
    Column("near", "time", "the record's own time, else that of the nearest earlier record of the source"),
    Column("level", "text", "I, W, E or F as printed; null for plain output"),
    Column("kind", "text", "cpp, python, traceback, progress or plain"),
    Column("origin", "text", "source file or logger that printed it; null for plain output"),
    Column("text", "text", "the whole record, cleaned of control codes; the middle of a huge one is cut"),
)

MATCHES = (
    Column("pattern", "text", "`rule/signal` that it matches"),
    *PLACE,
    TIME,
    Column("kind", "text", "kind of the record"),
    Column("excerpt", "text", "the line that matched"),
    Column("start", "int", "where in the excerpt the match begins, in characters"),
    Column("end", "int", "where in the excerpt the match ends"),
    Column("captures", "text", "named groups of the rule's regex, as JSON"),
    Column("after_end", "bool", "printed after its worker had reached the planned end"),
    Column("overcome", "bool", "training made progress behind it, in the same source"),
    Column("tensorflow", "text", "TensorFlow version of its worker, else of the run where all are alike"),
)

SCALARS = (
    *PLACE,
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
    TIME,
    Column("value", "number", "the value; NaN and infinities are kept"),
    Column("scope", "text", "global (all-reduced), local (of one replica) or unknown"),
    Column("origin", "text", "fit, loop, estimator, event_file, or gauge: a reading of the machine"),
)

SPANS = (
    WORKER,
    SOURCE,
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
    *PLACE,
    TIME,
    Column("key", "text", "what is stated; see docs/tables.md"),
    Column("value", "text", "as stated; null where the line itself is all that is stated"),
)

DAMAGE = (
    SOURCE,
    Column("offset", "int", "byte where it begins"),
    Column("length", "int", "bytes lost; null where unknown"),
    LINE,
    Column("what", "text", "what is wrong with it"),
)
