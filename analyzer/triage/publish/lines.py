"""Renders the runs of a night as JSON lines."""

import json
from collections.abc import Iterable

from analyzer.triage.night_summary import NightSummary, Run


def lines(runs: Iterable[Run], summary: NightSummary) -> str:
    """Return one JSON object per line and run, with the state of the run's group; deterministic."""
    made = ({**run._asdict(), "state": summary.states.get(run.fingerprint or "")} for run in runs)
    return "".join(json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in made)
