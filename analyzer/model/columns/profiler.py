"""Columns of the tables derived from profiler traces: collectives, steps, waits."""

from __future__ import annotations

from analyzer.model.columns import SOURCE, WORKER, Column

COLLECTIVES = (
    WORKER,
    SOURCE,
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
    WORKER,
    SOURCE,
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
    WORKER,
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
