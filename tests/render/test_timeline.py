"""The lanes of the timeline: each event is drawn where its time, or its place among the others, puts it."""

from __future__ import annotations

import copy
import re

import pytest

from analyzer.render import render
from analyzer.render.page import timeline
from tests.render.documents import load


def test_events_without_a_time_stand_where_they_come_in_the_order() -> None:
    """Drawn paler, between those with a time; and the axis names true times only."""
    told = load("r101")
    undated = copy.deepcopy(told)
    middle = [e for e in undated["timeline"] if e["kind"] == "last_step"]
    for event in middle:
        event["time"] = None
    made = timeline.chart(undated)
    assert made is not None
    assert middle
    assert made["guessed"]
    marks = sorted((m for lane in made["lanes"] for m in lane["marks"]), key=lambda m: m["n"])
    assert [m["x"] for m in marks] == sorted(m["x"] for m in marks)
    assert {m["n"] for m in marks if not m["dated"]} == {e["n"] for e in middle}
    page = render(undated, "html")
    assert page.count(' guess"') == len(middle)
    whole = timeline.chart(told)
    assert whole is not None
    assert not whole["guessed"]


def test_what_no_time_dates_is_not_drawn() -> None:
    """A worker without any time has no mark; and one time alone makes no axis."""
    told = copy.deepcopy(load("r101"))
    worker = told["culprits"][0]
    for event in told["timeline"]:
        event["time"] = None if event["worker"] == worker else event["time"]
    made = timeline.chart(told)
    assert made is not None
    assert [lane["marks"] for lane in made["lanes"] if lane["worker"] == worker] == [[]]
    assert made["moment"] is None
    for event in told["timeline"]:
        event["time"] = event["time"] and 1795224600.0
    assert timeline.chart(told) is None
    assert "The only time in the files is" in render(told, "html")


def test_the_moment_is_marked_on_the_lanes() -> None:
    """The first trouble of the culprit; nothing where nothing failed."""
    made = timeline.chart(load("r101"))
    assert made is not None
    assert made["moment"] is not None
    culprit = next(lane for lane in made["lanes"] if lane["part"] == "culprit")
    assert made["moment"][1] == f"first sign of trouble of {culprit['worker']}"
    first = min(m["x"] for m in culprit["marks"] if m["kind"] in {"error", "signal", "silence", "end"})
    assert made["moment"][0] == first
    calm = timeline.chart(load("r031"))
    assert calm is not None
    assert calm["moment"] is None


def test_every_mark_leads_to_its_event() -> None:
    """Without scripts too."""
    page = render(load("r101"), "html")
    marks = re.findall(r'<a class="mark [^"]*"[^>]* href="#event-(\d+)"', page)
    assert marks
    assert set(marks) <= set(re.findall(r'<tr id="event-(\d+)"', page))


@pytest.mark.parametrize(
    ("zone", "note"),
    [
        ("UTC", "Times are UTC"),
        (None, "Times are UTC"),
        ("unstated", "Times are as in the logs, which do not state their time zone"),
        ("mixed", "Times are UTC where a line states its time zone, else as in the logs"),
    ],
)
def test_times_are_called_utc_only_where_the_logs_show_it(zone: str | None, note: str) -> None:
    """A document of an earlier release has no zone, and its times were called UTC."""
    told = copy.deepcopy(load("r101"))
    told["run"].pop("time_zone", None)
    for source in told["sources"]:
        source.pop("time_zone", None)
    told["run"] |= {"time_zone": zone} if zone else {}
    page = render(told, "html")
    shown = page[: page.index('id="rules"')]  # below it are texts of rules and the ticket
    assert note in shown
    assert ("UTC" in shown.replace(note, "")) is (note == "Times are UTC")
    assert ("UTC" in render(told, "markdown")) is (note == "Times are UTC")


def test_a_log_that_states_its_zone_is_told_from_the_others() -> None:
    """In the table of files, where the run's logs differ."""
    told = copy.deepcopy(load("r101"))
    told["run"] |= {"time_zone": "mixed", "started": None}
    for n, source in enumerate(told["sources"]):
        source["time_zone"] = "unstated" if n else "UTC"
        source["first_time"] = source["last_time"] = 1795225237.5
    files = render(told, "html").partition('<section id="sources"')[2].partition("</section>")[0]
    assert files.count("2026-11-21 01:40:37.500 UTC") == 2
    assert files.count("2026-11-21 01:40:37.500") == 2 * len(told["sources"]) > 2
