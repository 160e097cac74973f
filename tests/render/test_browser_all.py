"""Every report in a real Chromium: those of all sample runs in every way to look at them, and hostile ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe

from analyzer.pipeline import analyze
from analyzer.render import render
from tests.recordings import OF_EACH_CAUSE, Recordings, sample_run_named
from tests.render.browsing import ARGS, CHROMIUM, FOLDED, UNFOLD, Visit
from tests.render.documents import ALL, PAYLOADS, document, hostile_workers, long_line, many_workers

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("reports")]
MakeRun = Callable[[Mapping[str, str]], Path]
Json = Any
NO_FILE_NAME = {ord(char): "_" for char in "/\x00\r\n\x85\u2028\u2029"}
DARK, LIGHT = "rgb(20, 21, 23)", "rgb(252, 252, 251)"


class Look(NamedTuple):
    """A way to look at a page."""

    width: int
    scheme: str
    media: str = "screen"


DESKTOP, PHONE, PAPER = Look(1280, "light"), Look(320, "dark"), Look(688, "light", "print")
NIGHT, STREET = Look(1280, "dark"), Look(320, "light")
"""Paper is as wide as A4 less its margins."""
LOOKS = {True: (DESKTOP, PHONE), False: (PAPER, NIGHT, STREET)}
"""With and without scripts; paper comes before anything is unfolded."""
UNFOLDED = {*ALL, "hostile-workers"}
"""Together they have every part of the page; what is folded in the others is laid out as in these."""
SEEN = f"""[document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor,
    ['h1', '.badge'].every((one) => document.querySelector(one).getBoundingClientRect().height > 0),
    window.PWNED === undefined, {FOLDED}, document.querySelector('#tools').checkVisibility()]"""


async def _inspected(chromium: Any, pages: Sequence[Path], scripts: bool) -> list[str]:
    """What is wrong with some pages, seen in every way in one tab."""
    context = await chromium.new_context(java_script_enabled=scripts)
    page = await context.new_page()
    page.set_default_timeout(120_000)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(f"{page.url}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
    page.on("request", lambda request: _asked(request.url, {each.as_uri() for each in pages}, wrong))
    devtools = await context.new_cdp_session(page)
    for each in pages:
        await page.goto(each.as_uri())
        for look in LOOKS[scripts]:
            await _looked(devtools, look)
            if look.media == "screen" and each.stem in UNFOLDED:
                await page.evaluate(UNFOLD)
            if look.media == "print":
                await page.evaluate("document.documentElement.classList.add('whole')")
            seen = await page.evaluate(SEEN)
            wrong += [f"{each.name} {look}: {what}" for what in _amiss(seen, look, scripts)]
    await context.close()
    return wrong


async def _looked(devtools: Any, look: Look) -> None:
    """Look at a page in one way; Playwright's own calls do the same, and wait for frames that nobody needs."""
    size = {"width": look.width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    scheme = [{"name": "prefers-color-scheme", "value": look.scheme}]
    await devtools.send("Emulation.setDeviceMetricsOverride", size)
    await devtools.send("Emulation.setEmulatedMedia", {"media": look.media, "features": scheme})


def _asked(url: str, ours: set[str], wrong: list[str]) -> None:
    if url not in ours and not url.startswith("data:image/svg"):
        wrong.append(f"request: {url}")


def _amiss(seen: Sequence[Any], look: Look, scripts: bool) -> Iterator[str]:
    width, colour, headed, unharmed, folded, tools = seen
    if width > look.width:
        yield f"scrolls sideways, {width} pixels"
    if look.media == "screen" and colour != (DARK if look.scheme == "dark" else LIGHT):
        yield f"has the colour {colour}"
    if not headed:
        yield "has no heading, or no verdict"
    if tools != scripts:
        yield f"{'shows' if tools else 'lacks'} what only scripts do"
    if not unharmed:
        yield "executed something"
    if look.media == "print" and folded:
        yield f"hides {folded} folded parts on paper"


async def _all_inspected(pages: Sequence[Path]) -> list[str]:
    """Both tabs at once, for there are two cores."""
    from playwright.async_api import async_playwright

    async with async_playwright() as tool:
        chromium = await tool.chromium.launch(executable_path=str(CHROMIUM), args=ARGS)
        found = await asyncio.gather(*(_inspected(chromium, pages, scripts) for scripts in LOOKS))
        await chromium.close()
    return [what for each in found for what in each]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, recordings: Recordings) -> dict[str, Path]:
    """The report of a sample run of every cause on disk, and of documents that were made to do harm."""
    folder = tmp_path_factory.mktemp("reports")
    made = {sample.name: recordings.document(sample) for sample in OF_EACH_CAUSE.values()}
    made["slow-input-tf211"] = recordings.document(sample_run_named("slow-input-tf211"))
    made |= {name: document(name) for name in ALL}
    made["long-line"] = long_line()
    made["eighteen-workers"] = eighteen_workers()
    made["hostile-workers"] = hostile_workers()
    paths = {name: folder / f"{name}.html" for name in made}
    for name, path in paths.items():
        path.write_text(render(made[name], "html"), encoding="utf-8")
    return paths


def eighteen_workers() -> Json:
    """Make a run of so many that tables fold; of its events, enough for every kind."""
    made = many_workers(18)
    return made | {"timeline": made["timeline"][:60]}


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("chromium")
def test_every_report_opens_quietly_in_every_way(reports: Mapping[str, Path]) -> None:
    """Scripts on and off, light and dark, desktop, phone and paper: no request, no message, no harm."""
    with ThreadPoolExecutor(1) as apart:  # the other tests' Playwright has a loop in this thread
        assert apart.submit(asyncio.run, _all_inspected([*reports.values()])).result() == []


TONES = ("whole", "r031", "slow-input-tf211", "inconclusive")
"""A report of each verdict, for each has colours of its own; in the first, every part of the page is there."""
KINDS = (*TONES, "unknown", "r111", "eighteen-workers", "hostile-everywhere")
"""With and without traces, curves, suspects, last words; with few workers, and with so many that some fold."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "look"),
    [*((name, DESKTOP) for name in KINDS), *((name, PHONE) for name in TONES)],
)
def test_axe_finds_nothing(browser: Any, reports: Mapping[str, Path], name: str, look: Look) -> None:
    """No violation of any rule of axe-core, with everything unfolded."""
    view = {"width": look.width, "height": 800}
    visit = Visit(browser, reports[name], viewport=view, color_scheme=look.scheme)
    visit.page.set_default_timeout(300_000)
    visit.page.evaluate(UNFOLD)
    found = Axe().run(visit.page)
    visit.context.close()
    assert found.response["passes"]
    assert found.generate_snapshot() == "", found.generate_report()
    assert visit.wrong == []


def test_a_hostile_run_does_no_harm(browser: Any, make_run: MakeRun, tmp_path: Path) -> None:
    """From its files to the browser: names of files, messages, tags, facts, exit codes."""
    names = [f"worker-{n}-{payload.translate(NO_FILE_NAME)[:60]}.log" for n, payload in enumerate(PAYLOADS)]
    lines = "".join(f"step {n} loss 0.{n}\nstep {n} {p}=1.5\n" for n, p in enumerate(PAYLOADS, 1))
    fatal = "Traceback (most recent call last):\n  File 'train.py', line 1, in <module>\nValueError: "
    files = {n: f"{lines}TensorFlow {p}\n{fatal}{p}\n" for n, p in zip(names, PAYLOADS, strict=True)}
    config = {"cluster": {"worker": [f"{p}:1" for p in PAYLOADS]}, "task": {"type": "worker", "index": 0}}
    run = make_run({**files, "tf_config-0.json": json.dumps(config), "exit_codes.txt": "worker-0 1\n"})
    path = tmp_path / "report.html"
    path.write_text(render(analyze([run]).document, "html"), encoding="utf-8")
    visit = Visit(browser, path, viewport={"width": 320, "height": 800})
    visit.page.evaluate(UNFOLD)
    width, harmed = visit.page.evaluate("[document.documentElement.scrollWidth, 'PWNED' in window]")
    shown = visit.page.inner_text("body")
    visit.context.close()
    assert "window.PWNED=1" in shown
    assert (width, harmed, visit.wrong) == (320, False, [])


def test_sixty_four_workers_stay_readable(browser: Any, tmp_path: Path) -> None:
    """The culprit's lane, curve and row can be told from the others; nothing lies upon its name."""
    path = tmp_path / "report.html"
    path.write_text(render(many_workers(), "html"), encoding="utf-8")
    visit = Visit(browser, path, viewport={"width": 1280, "height": 900})
    tops = visit.page.eval_on_selector_all(
        "svg.lanes .lane .name", "names => names.map((one) => one.getBoundingClientRect())"
    )
    labels = visit.page.locator("svg.plot .label").all_text_contents()
    tones = visit.page.eval_on_selector_all(
        "svg.lanes .lane .name", "names => names.map((one) => getComputedStyle(one).fill)"
    )
    visit.context.close()
    assert len(tops) == 64
    assert all(below["top"] >= above["top"] + 12 for above, below in pairwise(tops))
    assert any(label.startswith("worker:17") for label in labels)
    assert [tones.count(tone) for tone in (tones[17], tones[0])] == [1, 63]
