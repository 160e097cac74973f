"""The resource curves of a recorded job, in its report."""

from __future__ import annotations

import re

import pytest

from analyzer.pipeline import analyze
from analyzer.render import render
from analyzer.render.page.plot import resource_plots
from tests.recordings import ROOT

RECORDING = ROOT / "recorder" / "tests" / "recordings" / "memory-limit"


@pytest.mark.runs
def test_a_plot_has_a_curve_of_each_worker_over_time() -> None:
    """Memory in GiB, from the first reading of any worker on."""
    plots = resource_plots(analyze([RECORDING]).document)
    assert [plot["tag"].partition(",")[0] for plot in plots] == [
        "Resident memory",
        "CPU use",
        "Open files and sockets",
    ]
    memory = plots[0]
    assert memory["steps"] == (0, 55)
    assert {series.worker: series.points[-1][2] for series in memory["series"]} == {
        "worker:0": "0.5859",
        "worker:1": "8.203",
    }


@pytest.mark.recordings
def test_the_report_shows_them_without_scripts() -> None:
    """As inline drawings, with a table of the values; a run without readings has no such section."""
    page = render(analyze([RECORDING]).document, "html")
    (section,) = re.findall(r'<section id="resources".*?</section>', page, re.DOTALL)
    assert section.count("<svg") == section.count("<table>") == 3
    assert "data-plot" not in section
    assert len(page) < 1_000_000
    bare = render(analyze([ROOT / "sample_runs" / "worker-killed" / "run"]).document, "html")
    assert 'id="resources"' not in bare
