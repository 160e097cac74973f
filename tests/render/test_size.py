"""The largest diagnosis makes a page and a post of bounded size."""

from typing import Any

import pytest

from analyzer.render import render
from tests.render.documents import load, many_workers

Json = Any


def overgrown() -> Json:
    """The largest diagnosis: many workers, hundreds of findings with long texts, emoji and commands."""
    made = many_workers(200)
    text = "👩‍🚀 `worker` <b>said</b> " * 40
    made["summary"] = text
    made["why"] = [f"{n} {text}" for n in range(400)]
    made["next"] = [{"text": f"{n} {text}", "command": text} for n in range(60)]
    made["alternatives"] = [
        {"cause": text, "rule": f"r{n}", "confidence": 0.5, "culprits": made["witnesses"], "against": text}
        for n in range(500)
    ]
    like = made["findings"][0]
    place = like["evidence"][0] | {"excerpt": text * 9, "says": text}
    made["findings"] += [
        like | {"rule": f"rule-{n}", "title": text, "summary": text, "workers": made["witnesses"],
                "evidence": [place | {"line": n * 50 + k} for k in range(30)]}
        for n in range(200)
    ]  # fmt: skip
    made["sources"] = [made["sources"][0] | {"name": f"{n}-{text[:80]}"} for n in range(5000)]
    made["damage"] = [
        {"source": text, "offset": n, "length": 9, "line": n, "what": text} for n in range(3000)
    ]
    return made


@pytest.fixture(scope="module")
def largest() -> Json:
    """It takes a moment to make."""
    return overgrown()


def test_no_page_is_too_large(largest: Json) -> None:
    """Below a megabyte, and what was cut is said."""
    page = render(largest, "html")
    assert len(page.encode()) < 1_000_000
    assert "are not shown" in page
    assert "long texts are shortened" in page


@pytest.mark.parametrize("kind", ["jira", "markdown"])
def test_a_post_is_never_too_long(largest: Json, kind: str) -> None:
    """As Jira counts; what is left out is said, the decision never is."""
    post = render(largest, kind)
    assert len(post.encode("utf-16-le")) // 2 <= 30_000
    assert "Left out, to fit a post:" in post
    assert post.index("Restart as is?") < 3_000
    assert "Left out" not in render(load("r101"), kind)
