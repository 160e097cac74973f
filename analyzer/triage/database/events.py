"""Stores the events of each night, and which of them were delivered to which channel."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from analyzer.triage.database.history import History, storable_text
from analyzer.triage.database.schema import DELIVERIES, EVENTS

MAX_DELIVERY_TRIES = 5
"""Number of calls in which the delivery of an event to a channel is tried."""


def record_events(history: History, night: str, events: Iterable[Mapping[str, Any]]) -> None:
    """Store the events that are not stored yet; `id` identifies an event."""
    with history.engine.begin() as connection:
        for event in events:
            known = connection.execute(sa.select(EVENTS.c.id).where(EVENTS.c.id == event["id"])).first()
            if known is None:
                payload = storable_text(json.dumps(event, ensure_ascii=False))
                connection.execute(sa.insert(EVENTS).values(id=event["id"], night=night, payload=payload))


def latest_events(history: History, count: int) -> list[dict[str, Any]]:
    """Return the latest events, the newest first."""
    ordered = sa.select(EVENTS.c.payload).order_by(EVENTS.c.night.desc(), EVENTS.c.id).limit(count)
    return [json.loads(row["payload"]) for row in history.rows(ordered)]


def undelivered(history: History, channel: str, since: str) -> list[dict[str, Any]]:
    """Return the events since a night that a channel has not received, the oldest first."""
    ours = sa.and_(DELIVERIES.c.event == EVENTS.c.id, DELIVERIES.c.channel == channel)
    done = sa.or_(DELIVERIES.c.delivered.is_not(None), DELIVERIES.c.tries >= MAX_DELIVERY_TRIES)
    wanted = sa.select(EVENTS.c.payload).where(EVENTS.c.night >= since, ~sa.exists().where(ours, done))
    rows = history.rows(wanted.order_by(EVENTS.c.night, EVENTS.c.id))
    return [json.loads(row["payload"]) for row in rows]


def has_deliveries(history: History, channel: str) -> bool:
    """Return True if sending an event to a channel was ever tried."""
    return bool(history.rows(sa.select(DELIVERIES.c.event).where(DELIVERIES.c.channel == channel).limit(1)))


def record_delivery(history: History, event: str, channel: str, problem: str, now: float) -> None:
    """Store the outcome of one try; an empty `problem` means that the event was delivered."""
    ours = sa.and_(DELIVERIES.c.event == event, DELIVERIES.c.channel == channel)
    with history.engine.begin() as connection:
        tries = connection.execute(sa.select(DELIVERIES.c.tries).where(ours)).scalar() or 0
        connection.execute(DELIVERIES.delete().where(ours))
        values = {
            "tries": tries + 1,
            "problem": storable_text(problem),
            "delivered": None if problem else now,
        }
        connection.execute(sa.insert(DELIVERIES).values(event=event, channel=channel, **values))
