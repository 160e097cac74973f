"""Declares the tables of the history; `upgrade-N.sql` brings those of version N - 1 to version N."""

from pathlib import Path

import sqlalchemy as sa

UPGRADES = sorted(Path(__file__).parent.glob("upgrade-*.sql"))
VERSION = 1 + len(UPGRADES)
"""Version of the tables; opening a history of an older version upgrades it."""

METADATA = sa.MetaData()
ABOUT = sa.Table("about", METADATA, sa.Column("version", sa.Integer, nullable=False))
NIGHTS = sa.Table(
    "nights",
    METADATA,
    sa.Column("date", sa.String(10), primary_key=True),
    sa.Column("began", sa.Float, nullable=False),
    sa.Column("ended", sa.Float),
    sa.Column("found", sa.Integer, nullable=False, default=0),
    sa.Column("waiting", sa.Integer, nullable=False, default=0),
    sa.Column("unlisted", sa.Text, nullable=False, default="[]"),
    sa.Column("listed", sa.Boolean),
)
"""One row for each night; `listed` is true if the roots were listed in full."""
RUNS = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("place", sa.Text, nullable=False),
    sa.Column("night", sa.String(10), sa.ForeignKey("nights.date"), nullable=False),
    sa.Column("latest", sa.Boolean, nullable=False),
    sa.Column("told", sa.Boolean, nullable=False),
    sa.Column("stamp", sa.String(32), nullable=False),
    sa.Column("content", sa.String(32), nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("verdict", sa.String(16)),
    sa.Column("cause", sa.Text),
    sa.Column("rule", sa.Text),
    sa.Column("confidence", sa.Float),
    sa.Column("summary", sa.Text),
    sa.Column("fingerprint", sa.String(16)),
    sa.Column("culprits", sa.Text),
    sa.Column("report", sa.Text),
    sa.Column("owner", sa.Text),
    sa.Column("job", sa.Text),
    sa.Column("started", sa.Float),
    sa.Column("ended", sa.Float),
    sa.Column("root", sa.Text),
    sa.Column("address", sa.Text),
    sa.Column("rules", sa.String(32)),
    sa.Column("rule_digest", sa.String(32)),
    sa.Column("files", sa.Integer),
    sa.Index("runs_place", "place"),
    sa.Index("runs_night", "night"),
    sa.Index("runs_fingerprint", "fingerprint", "night"),
    sa.Index("runs_job", "job", "started"),
)
"""One row for each run and night of its examination; only the `latest` row of a run counts.

`root` is the directory or URL below which the run was found. `report` is a path below the output directory,
which is served at the URL `address` (empty if unknown). `rules` is a digest of all rules that examined the
run, and `rule_digest` one of the rule that explains it. `told` is set once an exit status has reported the
run. `tries` counts nights with a transient problem. `files` is the number of files of a run in an object
store that is settled, and need not be listed again.
"""
HOSTS = sa.Table(
    "hosts",
    METADATA,
    sa.Column("run", sa.Integer, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("workers", sa.Integer, nullable=False),
    sa.Column("culprits", sa.Integer, nullable=False),
    sa.Column("role", sa.String(16)),
    sa.Index("hosts_run", "run"),
    sa.Index("hosts_host", "host"),
)
"""One row for each machine of a run, with the numbers of its workers and of the culprits among them.

`role` is `chief` if the machine has the chief (or worker 0, if there is none), else `ps` or `worker`.
"""
ACKNOWLEDGEMENTS = sa.Table(
    "acknowledgements",
    METADATA,
    sa.Column("fingerprint", sa.String(16), primary_key=True),
    sa.Column("until", sa.String(10)),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("ticket", sa.Text, nullable=False, default=""),
    sa.Column("muted", sa.Boolean, nullable=False, default=False),
    sa.Column("created", sa.Float),
)
"""One row for each group that somebody acknowledged, muted or linked to a ticket; `until` is its last night.

`created` is null if the group only has a ticket.
"""
EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("night", sa.String(10), nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Index("events_night", "night"),
)
"""One row for each event that notifications and feeds report; `payload` is JSON."""
DELIVERIES = sa.Table(
    "deliveries",
    METADATA,
    sa.Column("event", sa.String(64), sa.ForeignKey("events.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("channel", sa.String(32), primary_key=True),
    sa.Column("delivered", sa.Float),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("problem", sa.Text, nullable=False, default=""),
)
"""One row for each event and channel (digest of its URL or command) that it was or will be sent to."""
