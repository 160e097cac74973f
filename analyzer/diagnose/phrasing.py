"""Words the summary, reasons and next steps, also for verdicts without a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from analyzer.diagnose.decide import Decision
from analyzer.diagnose.endings import how_it_ended
from analyzer.model.findings import Step, Verdict
from analyzer.model.run import Tables

LABELS = {
    "tensorflow": "TensorFlow",
    "python": "Python",
    "replicas": "Replicas in sync",
    "num_workers": "Workers",
    "communication": "Collective communication",
    "strategy": "Strategy",
    "host": "Host",
    "claims": "Claims to be",
    "cluster_spec": "Cluster",
    "cluster_size": "Tasks in its cluster",
    "loopback": "Only loopback addresses",
    "evaluator_listed": "Evaluator in the cluster",
    "tf_config": "Cluster configuration seen",
    "gpu": "GPU",
    "start_up": "Assembles by",
    "server_address": "Own address",
    "batch_size": "Batch size",
    "tensorflow_release": "TensorFlow release",
    "gpu_driver": "GPU driver",
    "cuda": "CUDA",
    "gpu_model": "GPU model",
    "workers": "Tasks of the job",
}
_OUTPUT = Step("Collect the complete output of every worker, stdout and stderr, and run the analysis again.")
_EXIT_CODES = Step(
    "Collect the exit code of every worker; on Kubernetes, with the reason of its end.",
    "kubectl get pods -o custom-columns=NAME:.metadata.name,"
    "EXIT:.status.containerStatuses[0].state.terminated.exitCode,"
    "REASON:.status.containerStatuses[0].state.terminated.reason",
)
_UNBUFFERED = Step(
    "Start workers with unbuffered output, so that the last lines of one that is killed are not lost.",
    "export PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1",
)
_NEW_RULE = Step(
    "Once you know what it was, write it down as a rule, and the next run like this one is explained.",
    "mwms-rules new --from RUN --id ID",
)
_DUMP = 'py-spy dump --native --pid "$(pgrep -f SCRIPT.py | head -1)"'
_UNCLEAR_ENDS = ("vanished", "stopped", "unknown")


def summary(decision: Decision, tables: Tables) -> str:
    """Return the one-sentence summary."""
    job = tables["job"].row(0, named=True)
    if decision.chosen:
        return decision.chosen.summary
    if decision.verdict is Verdict.HEALTHY:
        return f"Nothing failed: {_all_workers(job['trainers'])} reached the planned end."
    if decision.verdict is Verdict.FAILED:
        return "The job failed, and no rule explains it."
    return "The collected files do not show how the job ended."


def _all_workers(workers: int) -> str:
    return "the only training worker" if workers == 1 else f"all {workers} training workers"


def why(decision: Decision, tables: Tables) -> list[str]:
    """Return the sentences that justify the summary."""
    if decision.chosen:
        shown = [evidence.says for evidence in decision.chosen.evidence if evidence.says]
        return list(decision.chosen.why) or shown[:3]
    lives = [life for life in tables["lifetimes"].iter_rows(named=True) if life["trains"]]
    said = [f"{life['worker']} {how_it_ended(life)}; {_last_seen(life)}." for life in lives[:8]]
    if len(lives) > 8:
        said.append(f"{len(lives) - 8} more workers are listed below.")
    return [*said, *_absent_or_silent(tables), *(f"To check: {doubt}" for doubt in decision.doubts)]


def _absent_or_silent(tables: Tables) -> Iterator[str]:
    """Yield who was missing at barriers and who went silent before the others."""
    awaited = tables["barriers"].filter(~pl.col("arrived"))
    for (barrier, at), rows in awaited.group_by("barrier", "place", maintain_order=True):
        came = tables["barriers"].filter((pl.col("barrier") == barrier) & pl.col("arrived")).height
        where = {"startup": "start-up", "end": "the planned end"}.get(str(barrier), str(at))
        if came:
            yield f"At {where}, {came} had come; {', '.join(rows['worker'])} had not."
    for worker, seconds in tables["silences"].filter("first").select("worker", "seconds").iter_rows():
        yield f"{worker} fell quiet before all others, {seconds:.0f} s before the last sign of life of any."


def _last_seen(life: Mapping[str, Any]) -> str:
    return f"last seen at {life['place']}" if life["seen"] else "none of its files is here"


def next_steps(decision: Decision, tables: Tables) -> list[Step]:
    """Return the next steps for the user."""
    if decision.chosen:
        return [*decision.chosen.next, *map(_next_time, decision.chosen.collect)]
    if decision.verdict is Verdict.HEALTHY:
        return []
    return [*_while_it_hangs(tables), *_to_collect(tables), _NEW_RULE]


def _while_it_hangs(tables: Tables) -> Iterator[Step]:
    """Yield how to inspect a job that still hangs, starting with the workers the others wait for."""
    running = (
        tables["lifetimes"].filter(pl.col("trains") & (pl.col("ended") == "running"))["worker"].to_list()
    )
    late = tables["barriers"].filter(~pl.col("arrived") & (pl.col("barrier") != "end"))["worker"].to_list()
    first = tables["silences"].filter("first")["worker"].to_list()
    stalled = [worker for worker in running if worker in {*late, *first}] or running
    if stalled:
        where = ", ".join(stalled[:4]) + (" and others" if len(stalled) > 4 else "")
        yield Step(f"If the job still hangs, see where {where} stands before anybody kills it.", _DUMP)


def _next_time(collect: str) -> Step:
    return Step(f"To be surer next time, collect this: {collect[:1].lower()}{collect[1:]}")


def _to_collect(tables: Tables) -> Iterator[Step]:
    """Yield what to collect: missing output, exit codes or unbuffered logs."""
    lives = tables["lifetimes"].filter("trains")
    logs = tables["sources"].filter((pl.col("kind") == "log") & (pl.col("read") == "complete"))
    if not set(lives["worker"].to_list()) <= set(logs["worker"].to_list()):
        yield _OUTPUT
    if lives["exit_code"].null_count():
        yield _EXIT_CODES
    if lives["ended"].is_in(list(_UNCLEAR_ENDS)).any():
        yield _UNBUFFERED
