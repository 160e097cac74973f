"""What holds for the HTML page without a browser."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from analyzer.render import render
from analyzer.render.page.template import unbroken_options
from tests.render.documents import ALL, document, load, rendered

Json = Any


@pytest.fixture(params=ALL)
def name(request: pytest.FixtureRequest) -> str:
    """Name every document in turn."""
    return str(request.param)


class Page(HTMLParser):
    """The page's tags, attributes, ids and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.raw: list[tuple[str, dict[str, str], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.tags.append((tag, {k: v or "" for k, v in attrs}))

    def handle_data(self, data: str) -> None:
        """Keep the text of a script or style."""
        if self.cdata_elem and self.tags:
            self.raw.append((*self.tags[-1], data))

    @property
    def ids(self) -> list[str]:
        """Return every id."""
        return [a["id"] for _, a in self.tags if "id" in a]


@cache
def page_of(name: str) -> Page:
    """Return the page of a document, parsed once for all tests."""
    return Page(rendered(name, "html"))


def test_nothing_from_outside(name: str) -> None:
    """Nothing on the page loads anything; a link leads to the page itself or, on a click, to https."""
    text = rendered(name, "html")
    for tag, attrs in page_of(name).tags:
        assert "src" not in attrs
        assert not any(key.startswith("on") or key == "style" for key in attrs)
        href = attrs.get("href", "#")
        assert (
            href.startswith("#")
            or (tag == "a" and href.startswith("https://"))
            or (attrs.get("download") == "diagnosis.json" and href.startswith("data:application/json,"))
            or (tag == "link" and href.startswith("data:"))
        )
    assert "url(" not in text.split("</style>")[0]
    assert "@import" not in text.split("</style>")[0]


def test_policy_names_the_style_and_the_script() -> None:
    """The policy allows our own style and script by hash, and nothing else."""
    page = Page(render(load("r101"), "html"))
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag, attrs, body in page.raw:
        if tag in ("style", "script") and "type" not in attrs:
            assert base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() in policy


def test_only_our_elements(name: str) -> None:
    """Text of a run never becomes an element."""
    page = page_of(name)
    elements = {tag for tag, _ in page.tags}
    assert not elements & {"img", "iframe", "object", "embed", "form", "base", "b:b"}
    assert [a.get("type", "") for t, a in page.tags if t == "script"] == ["application/json", ""]


def test_json_is_embedded(name: str) -> None:
    """The diagnosis that the page shows is in it once, as a download that needs no script."""
    page = page_of(name)
    (link,) = (a["href"] for _, a in page.tags if a.get("id") == "diagnosis")
    assert not set(" \n\t#'<>`") & set(link)
    read = json.loads(unquote(link.removeprefix("data:application/json,")))
    diagnosis = document(name)
    assert read["verdict"] == diagnosis["verdict"]
    assert read["culprits"] == diagnosis["culprits"]


def test_anchors(name: str) -> None:
    """Ids are unique, and every link inside the page finds its place."""
    page = page_of(name)
    assert len(page.ids) == len(set(page.ids))
    wanted = {a["href"][1:] for t, a in page.tags if t == "a" and a.get("href", "").startswith("#")}
    assert wanted <= set(page.ids)


def test_stable_anchors() -> None:
    """Workers, rules, evidence and events can be linked to."""
    ids = set(Page(render(load("r101"), "html")).ids)
    assert {"worker-1", "finding-user-exception", "finding-nan-loss", "evidence-1", "event-1"} <= ids


def test_headings_in_order(name: str) -> None:
    """One heading of level one, and no level is jumped over."""
    levels = [int(t[1]) for t, _ in page_of(name).tags if re.fullmatch("h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("r101", "Failed, culprit worker:2: user.exception · r101"),
        ("r111", "Failed, one of worker:0, worker:1: hang.collective_stalled · r111"),
        ("r031", "Healthy · r031"),
        ("inconclusive", "Inconclusive, not ruled out: worker:1–3 · job-7781"),
    ],
)
def test_title_is_the_verdict(name: str, title: str) -> None:
    """The tab of the browser already says it."""
    assert f"<title>{title}</title>" in render(load(name), "html")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Compare `cluster` in TF_CONFIG.", "Compare <code>cluster</code> in TF_CONFIG."),
        ("a `<b>` and & `", "a `&lt;b&gt;` and &amp; `"),
        ("`<script>`", "<code>&lt;script&gt;</code>"),
    ],
)
def test_code_in_a_sentence_looks_like_code(text: str, shown: str) -> None:
    """A name between backticks is set as code, and still escaped; a backtick without a partner is one."""
    page = render(load("r101") | {"next": [{"text": text, "command": None}]}, "html")
    assert f"<li><bdi>{shown}</bdi></li>" in page


def test_no_line_of_a_command_ends_within_an_option() -> None:
    """Not even of a hostile one, which is escaped."""
    shown = unbroken_options("py-spy dump --native --pid <b> -n x-y")
    span = '<span class="option">{}</span>'.format
    assert shown == f"py-spy dump {span('--native')} {span('--pid')} &lt;b&gt; {span('-n')} x-y"


def test_being_collected_is_no_sign_of_trouble() -> None:
    """A job that stood still until it was stopped: the end of a suspect says nothing of when it began."""
    assert "first sign of trouble" in render(load("r101"), "html")
    stalled = load("r111")
    workers = [w | {"ended": w["ended"] | {"how": "stopped"}} for w in stalled["workers"]]
    events = [e for e in stalled["timeline"] if e["kind"] not in {"error", "silence"}]
    page = render(stalled | {"workers": workers, "timeline": events}, "html")
    assert any(e["kind"] == "end" for e in events)
    assert "first sign of trouble" not in page


def test_absence_is_shown() -> None:
    """What is not in a file is shown as such."""
    assert "Not found in this file." in render(load("r101"), "html")


def test_a_healthy_page_has_no_parts_in_a_failure() -> None:
    """Nobody is a bystander of nothing, and no failure is equal to it."""
    assert not re.search("bystander</span>|equal for equal failures", render(load("r031"), "html"))
    assert "equal for equal failures" in render(load("r101"), "html")


def test_healthy_is_calm() -> None:
    """A healthy run gets a short page without blame."""
    page = render(load("r031"), "html")
    assert "speaks against" not in page
    assert "Restart as is?" not in page


def test_events_left_out_are_counted() -> None:
    """A list that is not whole says so."""
    assert "712 of lower priority left out" in render(load("r101") | {"events_left_out": 712}, "html")


def test_the_end_of_a_lane_is_told_whole() -> None:
    """There is room for the longest of our own sentences."""
    told = load("r101")
    told["workers"][0]["ended"]["says"] = "stopped because it lost a peer (exit code 1)"
    assert ">stopped because it lost a peer (exit code 1)</text>" in render(told, "html")


_TWO_REPORTS = """
import json, shutil, sys
from analyzer.render import render
document = json.load(sys.stdin)
render(document, "html")
shutil.rmtree(sys.argv[1])
print(render(document, "junit"))
"""


@pytest.mark.processes
def test_a_cache_directory_that_disappears_does_not_stop_the_next_report(tmp_path: Path) -> None:
    """A process that writes many reports outlives a cleaned cache; a new one has no template in memory."""
    ended = subprocess.run(
        [sys.executable, "-c", _TWO_REPORTS, str(tmp_path)],
        input=json.dumps(load("unknown")),
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr[-300:]) == (0, "")
    assert ended.stdout.startswith("<?xml")
