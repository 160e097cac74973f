"""The lanes, the trace and the coverage of the page: what is drawn is what the document says."""

import json
import re
from typing import Any

import pytest

from analyzer.render import phrasing, render
from analyzer.render.page import cluster, plot, timeline, trace
from analyzer.render.page.view import section_order
from tests.recordings import ROOT
from tests.render.documents import load, many_workers, whole

Json = Any


def traced(worker: str, collectives: float, own_input: float, delay: float, *, last: bool = False) -> Json:
    """What the trace of a worker says."""
    return {
        "worker": worker,
        "collectives": 6,
        "step_time": 0.13,
        "collective_share": collectives,
        "collective_seconds": collectives / 2,
        "input_share": own_input,
        "delay_share": delay,
        "delay_seconds": delay / 2,
        "last": last,
    }


def with_trace(*rows: Json) -> Json:
    """A run that was traced."""
    return load("r101") | {"trace": [*rows]}


def test_the_trace_says_who_came_last_and_where_the_time_went() -> None:
    """Each bar is whole; a page without traces has no such section."""
    told = with_trace(
        traced("worker:0", 0.9, 0.001, 0.0),
        traced("worker:1", 0.95, 0.2, 0.0),
        traced("worker:2", 0.08, 0.84, 0.79, last=True),
    )
    made = trace.trace(told)
    assert made is not None
    assert (
        made["summary"]
        == "worker:2 enters the collectives last; the others wait for it 79 % of the time (0.40 s)."
    )
    assert [round(sum(p["width"] for p in row["parts"])) for row in made["rows"]] == [240, 240, 240]
    assert [p["kind"] for p in made["rows"][0]["parts"]] == ["own", "collective"]
    page = render(told, "html")
    assert made["summary"] in page
    assert page.index('id="cluster"') < page.index('id="trace"') < page.index('id="rules"')
    assert 'id="trace"' not in render(load("r101"), "html")


@pytest.mark.parametrize(
    ("cause", "first"),
    [
        ("perf.straggler", "trace"),
        ("numeric.nan_loss", "curves"),
        ("hang.at_startup", "timeline"),
        (None, "timeline"),
    ],
)
def test_the_section_that_decides_stands_first(cause: str | None, first: str) -> None:
    """The others keep their order, and evidence precedes the table of events."""
    order = section_order(whole() | {"cause": cause})
    assert order[0] == first
    assert sorted(order) == sorted(section_order(whole()))
    assert order.index("evidence") < order.index("events")
    page = render(whole() | {"cause": cause}, "html")
    places = [page.index(f'<section id="{id_}"') for id_ in order if f'<section id="{id_}"' in page]
    assert places == sorted(places)


def test_without_traces_the_curves_decide() -> None:
    """Whatever the log timed stands first in the report of a slow worker."""
    assert section_order(whole() | {"cause": "perf.input_bound", "trace": None})[0] == "curves"


def test_nobody_is_blamed_where_all_wait_alike() -> None:
    """Nor where one alone was traced."""
    alike = with_trace(traced("worker:0", 0.9, 0.0, 0.01), traced("worker:1", 0.9, 0.0, 0.0))
    alone = with_trace(traced("worker:0", 0.9, 0.0, 0.0) | {"delay_share": None, "delay_seconds": None})
    some = with_trace(traced("worker:0", 0.57, 0.0, 0.16), traced("worker:1", 0.73, 0.0, 0.0))
    told = [made["summary"] for made in map(trace.trace, (alike, alone, some)) if made]
    assert told[0].startswith("No worker is last")
    assert told[1].startswith("Only one worker was traced")
    assert (
        told[2]
        == "No single worker is last; worker:0 keeps the others waiting the longest, 16 % of the time."
    )


def test_what_a_worker_did_not_leave_is_shown() -> None:
    """Log and configuration of each, and what nobody left."""
    told = load("r101")
    told["sources"] = [s for s in told["sources"] if s["worker"] != "worker:1"]
    made = cluster.coverage(told)
    rows = dict(made["rows"])
    assert not made["even"]
    assert rows["worker:1"][0] == 0
    assert rows["worker:0"][0] > 0
    assert "Traces" in made["absent"]
    assert "missing for all:" in render(told, "html")


def test_a_healthy_page_is_shorter_than_a_failed_one() -> None:
    """What needs no action is folded."""
    page = render(load("r031"), "html")
    assert "Other observations" in page
    assert "Also seen" in page
    folded = page.index("Other observations") < page.index('<article class="claim')
    assert folded


def test_the_command_line_is_told() -> None:
    """Where the document knows it; an older one does not."""
    told = load("r101")
    assert "Command line" not in render(told, "html")
    told["made_with"]["command"] = "mwms-analyze job-17 --redact topology"
    assert "<code>mwms-analyze job-17 --redact topology</code>" in render(told, "html")


def test_the_end_of_every_lane_fits() -> None:
    """Also the longest sentence, in bold, and for 64 workers."""
    made = timeline.chart(many_workers())
    assert made is not None
    assert len(made["lanes"]) == 64
    assert made["width"] - made["right"] >= 50 * 6.7


def test_many_workers_are_told_apart_by_what_stands_out() -> None:
    """Of 64, the table shows the culprit; the others are folded, and can still be linked to."""
    told = many_workers()
    page = render(told, "html")
    first, _, folded = page.partition("workers that ended like most")
    assert 'id="worker-17"' in first
    assert 'id="worker-16"' not in first
    assert 'id="worker-16"' in folded
    assert "63 others" in page
    few = render(load("r101"), "html")
    assert "ended like most" not in few


def test_the_blamed_lie_on_top() -> None:
    """Where all curves are one, it is the culprit's that is seen."""
    made = plot.plots(load("r101"))[0]
    assert [s.part for s in made["layers"]][-1] == "culprit"
    assert sorted(s.worker for s in made["layers"]) == [s.worker for s in made["series"]]


def test_an_end_that_many_share_is_told_once_in_a_row() -> None:
    """Of few lanes each has its own."""
    told = many_workers()
    for worker in told["workers"]:
        worker["ended"]["says"] = "stopped" if worker["id"] != "worker:17" else "was killed"
    made = timeline.chart(told)
    assert made is not None
    assert [lane["ended"] for lane in made["lanes"] if lane["ended"] != "″"] == [
        "stopped",
        "was killed",
        "stopped",
    ]


def test_a_trace_of_many_workers_is_whole() -> None:
    """As the workers are."""
    told = many_workers() | {"trace": [traced(f"worker:{n}", 0.9, 0.0, 0.0) for n in range(64)]}
    told["trace"][17] |= {"last": True}
    page = render(told, "html")
    assert "trace are not shown" not in page
    shown, _, folded = page.partition("63 workers for which the others do not wait")
    assert "worker:17" in shown.partition('id="trace"')[2]
    assert folded.partition("</details>")[0].count('<th scope="row">') == 63


def test_many_clocks_are_one_note() -> None:
    """Of sixty-four that were set wrong, nobody reads sixty-four sentences."""
    told = whole()
    (note,) = phrasing.notes(told | {"findings": []})
    assert note.startswith("The clocks of worker:1–3 differ from those of their peers by up to 10.5 s")
    assert len(phrasing.notes(told | {"findings": [], "clocks": told["clocks"][:3]})) == 2


def test_pauses_are_drawn_and_named() -> None:
    """Each kind has a look, a title and an entry in the legend; a run without any has none of it."""
    made = timeline.chart(whole())
    assert made is not None
    assert {p["kind"] for lane in made["lanes"] for p in lane["pauses"]} == {
        "compile", "checkpoint", "evaluation", "pause"
    }  # fmt: skip
    page = render(whole(), "html")
    assert page.count('class="pause of-compile"') == len(made["lanes"]) + 1
    assert "<title>writes a checkpoint: 1.50 s, from " in page
    assert "</svg>writes a checkpoint</span>" in page
    assert 'class="pause' not in render(load("r101"), "html")


def test_every_event_leads_to_what_proves_it() -> None:
    """To evidence where a finding quotes the line, else to the line itself, the file, or the worker."""
    told = whole()
    told["timeline"][1] |= {"line": None}
    told["timeline"][2] |= {"source": None, "line": None}
    page = render(told, "html")
    rows = re.findall(r'<tr id="event-(\d+)".*?<a class="place" href="#([^"]+)"', page, re.DOTALL)
    assert len(rows) == len(told["timeline"])
    targets = dict(rows)
    assert targets["1"] == "line-1"
    assert targets["2"].startswith("file-")
    assert targets["3"] == told["timeline"][2]["worker"].replace(":", "-")
    assert any(target.startswith("evidence-") for target in targets.values())
    assert set(targets.values()) <= set(re.findall(r' id="([^"]+)"', page))
    assert "the very first line" in page.partition('id="line-1"')[2].partition("</figure>")[0]


def test_what_the_document_has_is_on_the_page() -> None:
    """Clocks, barriers, odd lines, near misses, the good run, and how sure a finding is."""
    page = re.sub(r"<[^>]*>", "", render(whole(), "html").partition('id="diagnosis"')[0])
    for said in (
        "How the workers’ clocks compare", "+3.50 s", "Barriers", "Last step (step 24)",
        "a line that is odd", "1 other cause with one signal missing", "To decide it, collect the event files.",
        "What differs from job-16, which went well", "3.10.4", "4.0 times as long", "0.25",
        "a line that the good run lacks", ": 0.78 to begin with, +0.12 for a traceback.",
        "Contradicted by nan-loss", "4,321 for which the others waited less are left out",
        "Python 3.11.2, Polars 1.9", "mwms-analyze - --against job-16",
    ):  # fmt: skip
        assert said in page, said


def test_a_post_says_what_differs_from_a_good_run() -> None:
    """And quotes the lines that stand out."""
    post = render(whole(), "markdown")
    for said in ("a line that is odd", "Against job-16, which went well", "3.10.4", "lacks"):
        assert said in post, said


def test_who_came_last_is_drawn_for_each_collective() -> None:
    """A dot in the row of the worker that came last; the longest wait is the largest dot."""
    told = whole()
    made = trace.latecomers(told)
    assert made is not None
    rows = {name: y for name, y, _ in made["names"]}
    assert [c["y"] for c in made["calls"]] == [rows[c["last"]] for c in told["collectives"]]
    assert max(made["calls"], key=lambda c: float(c["radius"]))["item"] == told["collectives"][-1]
    assert sum(c["blamed"] for c in made["calls"]) == sum(
        c["last"] in told["culprits"] for c in told["collectives"]
    )
    assert trace.latecomers(load("r101")) is None


def test_the_moment_of_a_curve_is_where_the_blamed_one_ends() -> None:
    """Under fit, the last step is one of its epoch, and curves count on."""
    told = load("r101")
    culprit = next(w for w in told["workers"] if w["part"] == "culprit")
    culprit["last_step"] = {"epoch": 2, "step": 4}
    made = plot.plots(told)[0]
    assert made["moment"] is not None
    end = next(s for s in made["series"] if s.worker == culprit["id"]).points[-1][0]
    at = (
        made["left"]
        + 10
        + (end - made["steps"][0])
        / (made["steps"][1] - made["steps"][0])
        * (made["right"] - made["left"] - 20)
    )
    assert made["moment"][0] == pytest.approx(at, abs=0.1)
    assert made["moment"][1] == "epoch 2, step 4"


def test_curves_without_room_are_named() -> None:
    """Six are drawn, the loss and the time of a step first."""
    told = whole()
    points = [[n, 1.0 * n, None] for n in range(5)]
    told["workers"][0]["curves"] += [
        {"tag": f"metric_{n}", "scope": "local", "kept": 5, "total": 5, "points": points} for n in range(7)
    ]
    drawn = [p["tag"] for p in plot.plots(told)]
    assert drawn[:2] == ["loss", "seconds per step"]
    left = plot.undrawn(told)
    assert len(drawn) == 6
    assert {*left} | {*drawn} == {c["tag"] for w in told["workers"] for c in w["curves"]}
    assert "Not drawn (no space)" in render(told, "html")


def test_what_each_worker_has_of_its_own_is_no_difference() -> None:
    """Every worker has an address; two with the same one are another matter."""
    told = load("r101")
    own = {"key": "server_address", "label": "Own address", "equal": False}
    ids = [w["id"] for w in told["workers"]]
    told["facts"] = [own | {"values": {w: f"10.0.0.{n}:1" for n, w in enumerate(ids)}}]
    assert phrasing.differences(told) == []
    assert "Differs per worker (1 fact)" in render(told, "html")
    told["facts"] = [own | {"values": {w: f"10.0.0.{min(n, 1)}:1" for n, w in enumerate(ids)}}]
    assert phrasing.differences(told)
    assert "Differs per worker" not in render(told, "html")


def test_every_barrier_of_the_schema_has_a_name() -> None:
    """A report of a new kind of barrier would else end in an error."""
    schema = json.loads((ROOT / "reports" / "diagnosis.schema.json").read_text(encoding="utf-8"))
    kinds = schema["properties"]["barriers"]["items"]["properties"]["barrier"]["enum"]
    met = {"arrived": ["worker:0"], "awaited": ["worker:1"], "unknown": []}
    barriers = [{"barrier": kind, "place": None, **met} for kind in kinds]
    page = render(load("r101") | {"barriers": barriers}, "html")
    assert page.count('class="awaited"') == len(kinds) == 4


@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_consequences_are_no_alternatives(kind: str) -> None:
    """They stand apart, by title, and without a share of the confidence."""
    told = load("r101")
    told["alternatives"] = []
    told["findings"].append(
        told["findings"][0]
        | {
            "rule": "lost",
            "title": "A peer was lost",
            "cause": "peer.lost",
            "explained_by": ["user-exception"],
        }
    )
    same = {"rule": "again", "title": "The same cause", "explained_by": ["user-exception"]}
    told["findings"].append(told["findings"][0] | same)
    page = render(told, kind)
    assert "Also seen, explained by the above" in page
    assert "The same cause" not in page.partition("explained by the above")[2][:400]
    assert "A peer was lost (worker:2)" in re.sub(r"<.*?>", "", page)
    if kind != "html":
        assert "What else it could be" not in page
