"""Tells whether a job was still running when Kubernetes or Slurm listed it."""

from analyzer.model.run import Tables


def listed_as_running(tables: Tables) -> str:
    """Return what was listed as running, as a clause, if no file shows an end of any worker; else nothing."""
    lives, facts = tables["lifetimes"].filter("trains"), tables["facts"]
    workers: list[str] = lives["worker"].to_list()
    if not set(lives["ended"]) <= {"unknown"}:
        return ""
    if set(facts.filter(key="job_state")["value"]) == {"RUNNING"}:
        return "Slurm listed the job as running"
    listed = set(facts.filter(key="pod_running")["worker"].drop_nulls())
    if not workers or not set(workers) <= listed:
        return ""
    whose = f"the pod of {workers[0]}" if len(workers) == 1 else "the pods of all training workers"
    return f"{whose} still ran when listed"
