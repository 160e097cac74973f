"""How an old history becomes one of this version: the statements of each step; none is ever changed."""

from __future__ import annotations

from collections.abc import Sequence

UPGRADES: Sequence[Sequence[str]] = (
    (
        "ALTER TABLE runs ADD COLUMN owner TEXT",
        "ALTER TABLE runs ADD COLUMN job TEXT",
        "ALTER TABLE runs ADD COLUMN started FLOAT",
        "ALTER TABLE runs ADD COLUMN ended FLOAT",
        "CREATE INDEX runs_fingerprint ON runs (fingerprint, night)",
        "CREATE INDEX runs_job ON runs (job, started)",
        """
        CREATE TABLE hosts (
          run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
          host TEXT NOT NULL,
          workers INTEGER NOT NULL,
          culprits INTEGER NOT NULL
        )
        """,
        "CREATE INDEX hosts_run ON hosts (run)",
        "CREATE INDEX hosts_host ON hosts (host)",
    ),
)
"""The first step leads from version 1 to 2. Statements that every database understands."""
