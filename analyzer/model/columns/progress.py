"""Columns of the tables derived from metrics and step times."""

from __future__ import annotations

from analyzer.model.columns import ATTEMPT, LINE, SOURCE, TIME, WORKER, Column

SERIES = (
    WORKER,
    ATTEMPT,
    Column("tag", "text", "what was measured, as the log calls it where it tells it"),
    Column("epoch", "int", "epoch, from 1; null where none is told"),
    Column("step", "int", "step; under `fit` within the epoch"),
    TIME,
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
    SOURCE,
    LINE,
)

CURVES = (
    WORKER,
    Column("tag", "text", "what was measured"),
    Column(
        "quantity",
        "text",
        "what the tag names: training_loss, loss (of validation, a part, a head), learning_rate or "
        "gradient_norm; null for anything else",
    ),
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
    WORKER,
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

PAUSES = (
    WORKER,
    Column("kind", "text", "what it did: compile, checkpoint, evaluation; pause where the files do not tell"),
    Column("start", "time", "when it began, on the common clock"),
    Column("end", "time", "when it ended"),
    SOURCE,
)

PHASES = (
    WORKER,
    Column("tag", "text", "the part of a step, as the log calls it"),
    Column("kind", "text", "input, host or device; the device's part holds the wait for the other workers"),
    Column("points", "int", "values read"),
    Column("seconds", "number", "seconds of it in a step, median"),
    Column("others_seconds", "number", "the same of the other workers, median; null where there are none"),
    Column("share", "number", "its share of all parts that the worker times"),
    Column("percent", "number", "the same in percent, to one decimal"),
    Column("longest", "bool", "this worker's takes longer than that of each other one"),
    Column("excess_share", "number", "seconds beyond those of the others, as a share of the worker's step"),
)
