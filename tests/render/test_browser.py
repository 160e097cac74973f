"""What a reader does with a report, in a real Chromium, opened from disk as out of a ticket."""

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.render import render
from tests.render.browsing import UNFOLD, Visit
from tests.render.documents import hostile_everywhere, load, many_workers, whole

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("page")]


@pytest.mark.parametrize("scripts", [True, False])
def test_the_diagnosis_is_downloaded(browser: Any, tmp_path: Path, scripts: bool) -> None:
    """From the link, with the name of a file, with scripts and without."""
    path = tmp_path / "report.html"
    told = hostile_everywhere()
    path.write_text(render(told, "html"), encoding="utf-8")
    visit = Visit(browser, path, java_script_enabled=scripts)
    with visit.page.expect_download() as download:
        visit.page.locator("a[download]").click()
    assert download.value.suggested_filename == "diagnosis.json"
    assert json.loads(download.value.path().read_text(encoding="utf-8"))["culprits"] == told["culprits"]
    visit.context.close()
    assert [what for what in visit.wrong if not what.startswith("request: data:application/json")] == []


def test_a_link_opens_what_it_leads_to(browser: Any, tmp_path: Path) -> None:
    """From an event to the line that proves it, which lies folded, by the keyboard and without scripts."""
    path = tmp_path / "report.html"
    path.write_text(render(whole(), "html"), encoding="utf-8")
    visit = Visit(browser, path, java_script_enabled=False)
    page = visit.page
    assert not page.locator("#line-1").is_visible()
    page.locator("#event-1 a.place").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#line-1", state="visible")
    assert page.url.endswith("#line-1")
    visit.context.close()
    assert [what for what in visit.wrong if not what.endswith("#line-1")] == []


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


def test_a_long_timeline_is_zoomed_and_filtered(browser: Any, tmp_path: Path) -> None:
    """By dragging, by keys and by names of workers; the status says what is shown."""
    path = tmp_path / "report.html"
    path.write_text(render(many_workers(18, steps=2), "html"), encoding="utf-8")
    visit = Visit(browser, path, viewport={"width": 1280, "height": 900})
    page = visit.page
    chart, status = page.locator("svg.lanes"), page.locator(".controls [role=status]")
    marks = chart.locator(".mark:not([display])")
    every, height = marks.count(), chart.bounding_box()["height"]
    assert status.text_content() == ""
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 420, box["y"] + 80)
    page.mouse.up()
    dragged = marks.count()
    assert 0 < dragged < every
    assert " to " in status.text_content()
    page.get_by_label("Timeline chart").focus()
    page.keyboard.press("+")
    assert marks.count() < dragged
    page.keyboard.press("0")
    assert marks.count() == every
    page.get_by_label("Show only these workers").fill("worker:1, culprit")
    assert chart.locator(".lane:not([display]) .name").all_text_contents() == ["worker:1", "worker:17"]
    assert status.text_content() == "2 of 18 workers"
    assert chart.bounding_box()["height"] < height
    visit.context.close()
    assert visit.wrong == []


@pytest.mark.parametrize("width", [420, 1280])
def test_events_stay_in_view(browser: Any, tmp_path: Path, width: int) -> None:
    """A long event neither runs out of view nor pushes its kind down to its last line."""
    told = load("r101")
    told["timeline"][20]["text"] = "KeyError: a long message of a peer that went away " * 6
    told["timeline"][21]["text"] = (
        f"InternalError: {{{{function_node {'__wrapped__device_/job:' * 6}}}}} failed"
    )
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
