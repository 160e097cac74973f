"""Columns of the tables about workers and the job: membership, ends, reports of lost peers."""

from __future__ import annotations

from analyzer.model.columns import LINE, PLACE, SOURCE, TIME, WORKER, Column

WORKERS = (
    WORKER,
    Column("role", "text", "worker, chief, ps or evaluator"),
    Column("index", "int", "index within the role"),
    Column("expected", "bool", "it belongs to the job: see `known_by`"),
    Column(
        "known_by",
        "text",
        "why it is expected: the cluster lists it, the coordination service or its peers name it, the number "
        "of workers that the strategy states, a gap in the indices of its peers, or its files; else null",
    ),
    Column("seen", "bool", "it left a log, event file or trace"),
    Column("logged", "bool", "it left a log"),
    Column("trains", "bool", "its role takes part in training steps (chief or worker)"),
    Column("leader", "bool", "it hosts the coordination service: the chief, else task 0"),
    Column("host", "text", "host it ran on"),
    Column("address", "text", "host:port that the cluster gives it"),
    Column("claims", "text", "task that it says it is"),
    Column("guessed", "text", "how its index was guessed, where no name and no words of its own tell it"),
    Column("identity_conflict", "bool", "it says that it is another task than the one it was collected as"),
    Column("shares_claim", "bool", "another worker says that it is the very same task"),
    Column("outside", "bool", "it says that it is a task which its own cluster does not list"),
    Column("configured", "bool", "a cluster with other tasks was stated to it, by TF_CONFIG or in its log"),
    Column("serves", "bool", "it says that it started the server which its peers connect to"),
    Column("tensorflow", "text", "TensorFlow version"),
)

CLOCKS = (
    WORKER,
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
    *PLACE,
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
    Column(
        "runtime", "bool", "it says only what TensorFlow's runtime or a device met, not what code did wrong"
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
    SOURCE,
    LINE,
    TIME,
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
    WORKER,
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
    Column(
        "woke_after",
        "number",
        "seconds from the end of all others to its next line, of one that fell silent before",
    ),
    Column("outlived", "bool", "it does not train, and all who do were seen after its last sign"),
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
    WORKER,
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
    WORKER,
    Column("arrived", "bool", "it came there; false where it was awaited, null where the files do not tell"),
    SOURCE,
    LINE,
    Column("time", "time", "when it was last seen there or before, on the common clock"),
)

CLUSTER = (
    Column("key", "text", "what is compared"),
    WORKER,
    Column("value", "text", "what this worker states"),
    Column("holds", "bool", "the same of what is answered by yes or no; else null"),
    Column("majority", "text", "what most workers state; null where there is no majority"),
    Column("odd", "bool", "this worker alone differs from all others, who agree"),
    Column("equal", "bool", "all workers that state it state the same"),
    Column("same", "int", "workers that state this very value"),
    Column("stating", "int", "workers that state it"),
)

JOB = (
    Column("expected", "int", "tasks of the cluster, evaluators left out"),
    Column("seen", "int", "of these, tasks that left a source"),
    Column("most_seen", "bool", "more than half of the tasks expected to train left a source that is here"),
    Column("unseen", "int", "of these, tasks that left none, or whose files were not handed over"),
    Column("no_files", "int", "of these, tasks of which nothing at all shows that they ever ran"),
    Column(
        "workers_leader_awaited",
        "int",
        "workers that the leader waited for in vain, though their own logs show them up",
    ),
    Column(
        "awaits_everyone",
        "bool",
        "several tasks are awaited, all but the one that waits: it may be the one that cannot be reached",
    ),
    Column("lost_unlogged", "int", "tasks without a log here that a peer reports as lost"),
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
    Column(
        "old_tensorflow", "text", "what shows a TensorFlow before 2.4, which is read with less confidence"
    ),
    Column("positions", "int", "different last positions of the training workers"),
)
