"""On paper: the decision and its evidence by default, everything on request."""

import re
from pathlib import Path
from typing import Any

import pytest

from analyzer.render import render
from tests.recordings import Recordings, sample_run_named
from tests.render.browsing import Visit

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("page")]
RUNS = ("nan-loss", "worker-killed", "collective-stalled", "slow-input-tf211", "worker-exception")
MAX_PAGES = 4


def pages(visit: Visit) -> int:
    """Count the pages of the PDF that Chromium prints."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", visit.page.pdf(format="A4")))


@pytest.mark.parametrize("name", RUNS)
def test_four_pages_hold_the_decision_and_its_evidence(
    name: str, browser: Any, tmp_path: Path, recordings: Recordings
) -> None:
    """What is folded and the appendices are left out until all is asked for."""
    path = tmp_path / "report.html"
    path.write_text(render(recordings.document(sample_run_named(name)), "html"), encoding="utf-8")
    visit = Visit(browser, path)
    short = pages(visit)
    visit.page.emulate_media(media="print")
    assert visit.page.locator("#decision").is_visible()
    assert visit.page.locator("#evidence").is_visible()
    visit.page.evaluate("window.print = () => { window.printed = document.documentElement.className }")
    visit.page.emulate_media(media="screen")
    visit.page.get_by_role("button", name="Print all").click()
    assert "whole" in visit.page.evaluate("window.printed")
    visit.page.evaluate("document.documentElement.classList.add('whole')")
    assert short <= MAX_PAGES < pages(visit)
    visit.context.close()
