"""Columns of the tables: name, type, unit and meaning; one module per group of tables."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """One column; its type is a key of `tables.builders.DTYPES`."""

    name: str
    type: str
    meaning: str


WORKER = Column("worker", "text", "the task that it belongs to, `role:index`; null where nothing tells")
ATTEMPT = Column("attempt", "int", "which life of the worker, from 1")
SOURCE = Column("source", "text", "name of the file, relative to the run")
LINE = Column("line", "int", "line of the source, from 1")
TIME = Column("time", "time", "when; of a line that carries no time, null")
PLACE = (WORKER, ATTEMPT, SOURCE, LINE)
