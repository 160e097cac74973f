"""The report in a real Chromium, opened from disk as out of a ticket."""

from pathlib import Path
from typing import Any

import pytest

from analyzer.render import render
from tests.render.browsing import FOLDED, UNFOLD, Visit
from tests.render.documents import NAMES, load, many_workers

pytestmark = pytest.mark.browser
Json = Any


@pytest.fixture(params=[*NAMES, "many-workers"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Every diagnosis as a page on disk."""
    diagnosis = many_workers() if request.param == "many-workers" else load(request.param)
    path = tmp_path / "report.html"
    path.write_text(render(diagnosis, "html"), encoding="utf-8")
    return path


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("width", [320, 1280])
def test_opens_quietly_and_fits(browser: Any, file: Path, width: int, scripts: bool) -> None:
    """No request, no console message, nothing executed, no sideways scrolling, scripts on or off."""
    visit = Visit(browser, file, viewport={"width": width, "height": 800}, java_script_enabled=scripts)
    page = visit.page
    if scripts:
        page.evaluate(UNFOLD)
        assert page.evaluate("window.PWNED === undefined")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").is_visible()
    assert page.locator(".badge").is_visible()
    assert page.locator("#tools").is_visible() == scripts
    visit.context.close()
    assert visit.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_follows_the_reader(browser: Any, file: Path, scheme: str) -> None:
    """Light and dark come from the reader's setting."""
    visit = Visit(browser, file, color_scheme=scheme)
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.context.close()
    assert (colour == "rgb(20, 21, 23)") == (scheme == "dark")
    assert visit.wrong == []


@pytest.mark.parametrize("scripts", [True, False])
def test_prints_unfolded(browser: Any, file: Path, scripts: bool) -> None:
    """On paper everything is unfolded, without scripts too."""
    visit = Visit(browser, file, java_script_enabled=scripts)
    visit.page.emulate_media(media="print")
    folded = visit.page.evaluate(FOLDED)
    visit.context.close()
    assert folded == 0


def test_scripts_add(browser: Any, tmp_path: Path) -> None:
    """The script reveals what a link points at, and filters long tables."""
    path = tmp_path / "report.html"
    path.write_text(render(load("r101"), "html"), encoding="utf-8")
    visit = Visit(browser, path)
    page = visit.page
    page.evaluate("location.hash = 'finding-nan-loss'")
    page.wait_for_selector("#finding-nan-loss", state="visible")
    page.locator("input.filter").first.fill("KeyError")
    assert page.locator("table.events tbody tr:visible").count() == 1
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    assert download.value.suggested_filename == "diagnosis.json"
    visit.context.close()
    assert visit.wrong == []


@pytest.mark.parametrize("width", [420, 1280])
def test_events_stay_in_view(browser: Any, tmp_path: Path, width: int) -> None:
    """A long event neither runs out of view nor pushes its kind down to its last line."""
    told = load("r101")
    told["timeline"][20]["text"] = "KeyError: a long message of a peer that went away " * 6
    path = tmp_path / "report.html"
    path.write_text(render(told, "html"), encoding="utf-8")
    visit = Visit(browser, path, viewport={"width": width, "height": 800})
    page = visit.page
    page.evaluate(UNFOLD)
    table = page.locator("table.events")
    assert table.evaluate("e => e.scrollWidth <= e.closest('.scroll').clientWidth")
    kind, text = (page.locator(f"tr.error .wide {name}").first.bounding_box() for name in (".kind", "bdi"))
    assert abs(kind["y"] - text["y"]) <= 1
    assert kind["x"] < text["x"]
    visit.context.close()
    assert visit.wrong == []
