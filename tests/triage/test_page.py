"""The index page in a real Chromium, as people look at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from analyzer.triage.database.history import default_history_url, open_history
from analyzer.triage.night_summary import summarize_night
from analyzer.triage.publish.page import page
from tests.render.browsing import FOLDED, UNFOLD, Visit
from tests.render.conftest import browser, chromium
from tests.triage.planted import Planted, plant, sixty_nights
from tests.triage.test_night_summary import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("index page")]
__all__ = ["browser", "chromium"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a history with something of everything, names made to do harm among it."""
    folder = tmp_path_factory.mktemp("triage")
    runs = [
        *sixty_nights(3),
        Planted(59, HOSTILE.replace("/", "_").replace("\0", ""), (HOSTILE, "b"), HOSTILE, HOSTILE),
    ]
    with open_history(default_history_url(folder)) as history:
        told = summarize_night(history, plant(history, runs), 600, 3, [("/gone", "permission denied")])
    (folder / "index.html").write_text(page(told._replace(runs=told.runs[:40])), encoding="utf-8")
    return folder / "index.html"


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_opens_quietly_and_fits(browser: Any, file: Path, width: int, scheme: str, scripts: bool) -> None:
    """No request, no message, nothing executed, no sideways scrolling; the colours that the reader asked for."""
    view = {"width": width, "height": 800}
    visit = Visit(browser, file, viewport=view, color_scheme=scheme, java_script_enabled=scripts)
    seen = visit.page.evaluate(
        "[document.documentElement.scrollWidth, 'PWNED' in window, getComputedStyle(document.body).backgroundColor]"
    )
    heading = visit.page.locator("h1").inner_text()
    visit.page.emulate_media(media="print")
    folded = visit.page.evaluate(FOLDED)
    visit.context.close()
    assert seen == [width, False, "rgb(20, 21, 23)" if scheme == "dark" else "rgb(252, 252, 251)"]
    assert "never seen before" in heading
    assert "node-17 is a repeat offender" in heading
    assert folded == 0
    assert visit.wrong == []


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_axe_finds_nothing(browser: Any, file: Path, width: int, scheme: str) -> None:
    """No violation of any rule of axe-core, with everything unfolded."""
    visit = Visit(browser, file, viewport={"width": width, "height": 800}, color_scheme=scheme)
    visit.page.set_default_timeout(120_000)
    visit.page.evaluate(UNFOLD)
    found = Axe().run(visit.page)
    visit.context.close()
    assert found.response["passes"]
    assert found.generate_snapshot() == "", found.generate_report()
    assert visit.wrong == []


def test_the_night_is_on_one_screen(browser: Any, file: Path) -> None:
    """What is new, back, known and who is guilty, without scrolling; a filter for the long table."""
    visit = Visit(browser, file, viewport={"width": 1280, "height": 800})
    below = visit.page.locator(".answers").bounding_box()
    visit.page.locator("#runs input.filter").fill("never-seen")
    rows = visit.page.locator("#runs tbody tr:visible").count()
    visit.context.close()
    assert below["y"] + below["height"] <= 800
    assert rows == 1
