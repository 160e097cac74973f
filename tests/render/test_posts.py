"""Posts for Jira and Slack keep to their limits, and nothing of a run is markup there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from analyzer.render import render
from analyzer.render.posts import units
from tests.render.documents import ALL, load, rendered

Json = Any
NOFORMAT = re.compile(r"(?ms)^\{noformat\}$.*?^\{noformat\}$")


def blocks(name: str) -> list[Json]:
    """The blocks of a document's Slack message."""
    found: list[Json] = json.loads(rendered(name, "slack"))["blocks"]
    return found


def elements(value: Json) -> Iterator[Json]:
    """Every object of a message, the outer ones first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from elements(each)


def texts(value: Json) -> Iterator[str]:
    """Every text that is shown."""
    for each in elements(value):
        if isinstance(each.get("text"), str):
            yield each["text"]


@pytest.mark.parametrize("name", ALL)
def test_slack_takes_the_message(name: str) -> None:
    """At most 50 blocks of known types; 150 characters of a header, 3,000 of any other; no empty text."""
    message = json.loads(rendered(name, "slack"))
    assert message.keys() == {"text", "blocks"}
    assert 0 < units(message["text"]) <= 3_000
    assert 3 < len(message["blocks"]) <= 50
    assert message["blocks"][0]["type"] == "header"
    for block in message["blocks"]:
        assert block["type"] in {"header", "rich_text", "context"}
        assert sum(map(units, texts(block))) <= (150 if block["type"] == "header" else 3_000)
        assert all(texts(block))
        assert block["type"] == "header" or block["elements"]


@pytest.mark.parametrize("name", ALL)
def test_slack_interprets_no_text(name: str) -> None:
    """Text elements alone, which Slack shows as they are; the notification has its three characters escaped."""
    message = json.loads(rendered(name, "slack"))
    kinds = {each["type"] for block in message["blocks"] for each in elements(block) if "type" in each}
    shown = {"rich_text", "rich_text_section", "rich_text_preformatted", "text"}
    assert kinds <= {"header", "plain_text", "context", *shown}
    assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", message["text"])


def test_the_notification_divides_the_name_of_the_run_from_the_rest() -> None:
    """By a point, as the rest is divided."""
    said = json.loads(rendered("r101", "slack"))["text"]
    assert said.startswith(f"✕ Failed: {load('r101')['run']['name']} · culprit ")


def test_slack_says_what_the_terminal_says() -> None:
    """Verdict, culprit, cause, answers, and the command to paste."""
    said = "".join(texts(blocks("r101")))
    for word in (
        "Failed",
        "culprit worker:2",
        "user.exception",
        "Restart as is?",
        "worker-2.log:31",
        "sed -n",
    ):
        assert word in said


@pytest.mark.parametrize(("kind", "shown"), [("markdown", "`*_temp|x`"), ("jira", "{{\\*\\_temp\\|x}}")])
def test_code_in_a_sentence_is_code(kind: str, shown: str) -> None:
    """As on the page; a backtick without a partner is one."""
    told = load("r101")
    told["why"] = ["Delete `*_temp|x` there.", "A lone ` stays."]
    told["next"][0]["text"] = "See `*_temp|x` first."
    text = render(told, kind)
    shown = shown.replace("|x`", "¦x`")
    assert f"Delete {shown} there" in text
    assert f"See {shown} first" in text
    assert "A lone " in text


@pytest.mark.parametrize("name", ALL)
def test_jira_takes_the_comment(name: str) -> None:
    """Of at most 32,767 characters, with every block of code closed."""
    text = rendered(name, "jira")
    assert units(text) <= 30_000
    assert text.count("{noformat}") % 2 == 0
    assert "{" not in re.sub(r"\\.|\{\{|\}\}", "", NOFORMAT.sub("", text))


@pytest.mark.parametrize("name", ["hostile", "hostile-everywhere"])
def test_words_of_a_run_are_no_markup_of_jira(name: str) -> None:
    """No link, mention, image, macro or colour; outside code, and none that code would let out."""
    prose = re.sub(r"\\.", "", NOFORMAT.sub("", rendered(name, "jira")))
    assert not re.search(r"[\[\]!~^]", prose)
    assert "@" not in prose
    told = load("r101")
    told["next"][0]["command"] = "{noformat}\n!http://evil.example/x.png!\n{NoFormat:title=x}"
    (quoted,) = (each for each in NOFORMAT.findall(render(told, "jira")) if "evil" in each)
    assert len(re.findall(r"(?i)\{noformat", quoted)) == 2


def test_jira_says_what_markdown_says() -> None:
    """The same sections in the same order."""
    jira, markdown = (re.sub(r"[\\*]", "", render(load("r101"), kind)) for kind in ("jira", "markdown"))
    titles = [line for line in markdown.splitlines() if re.fullmatch(r"[A-Z][\w ,]+", line)]
    assert titles
    assert [line for line in jira.splitlines() if line in titles] == titles
    assert jira.startswith("h3. ✕ Failed")
