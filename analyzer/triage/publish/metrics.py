"""Renders a night as metrics for the textfile collector of Prometheus' node exporter."""

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from analyzer.render.sanitize import one_line
from analyzer.triage.night_summary import NightSummary

_MAX_LABEL_CHARACTERS = 120


def metrics(summary: NightSummary) -> bytes:
    """Return the metrics of a night, all gauges, in Prometheus' text format."""
    registry, night = CollectorRegistry(), summary.tonight

    def gauge(name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"mwms_triage_{name}", text, labels, registry=registry)

    gauge("last_night_timestamp_seconds", "When the last night began").set(summary.began)
    gauge("found", "Runs found").set(summary.found)
    gauge("waiting", "Runs still being written, left for the next night").set(summary.waiting)
    gauge("history", "Runs in the history").set(summary.all_runs)
    runs = gauge("runs", "Runs examined in the last night, by verdict", "verdict")
    for kind in ("healthy", "degraded", "failed", "inconclusive", "broken"):
        runs.labels(kind).set(getattr(night, kind))
    groups = gauge("groups", "Groups of equal failures of the last night, by state", "state")
    for state in ("new", "regressed", "known", "gone"):
        groups.labels(state).set(summary.count(state))
    causes = gauge("cause_runs", "Failed and degraded runs of the last night, by cause", "cause")
    for cause in sorted(summary.causes):
        causes.labels(one_line(cause.cause, _MAX_LABEL_CHARACTERS)).set(cause.by_night[-1])
    gauge("unknown_groups", "Groups of failures that no rule explains").set(len(summary.unknown))
    hosts = gauge("suspect_host_runs", "Runs in which an accused machine is the culprit", "host")
    for each in sorted(summary.suspects):
        hosts.labels(one_line(each.suspect.host, _MAX_LABEL_CHARACTERS)).set(each.suspect.guilty)
    return generate_latest(registry)
