"""What a page says of its own words and places: each explained, and nothing said twice."""

import json
import re

from analyzer.render import decision, phrasing, render
from tests.recordings import ROOT
from tests.render.documents import load


def test_the_number_of_an_entry_is_told_from_that_of_a_line() -> None:
    """In each format; a note says how entries are counted."""
    document = load("r101")
    place = document["findings"][0]["evidence"][0]
    place["source"] = "cloud.json#worker-1"
    by_line = json.loads(json.dumps(document))
    place["counts"] = "entries"
    told = f"cloud.json#worker-1 entry {place['line']}"
    for kind in ("html", "text", "markdown"):
        assert told in render(document, kind).replace("\n", " ")
        assert told not in render(by_line, kind)
    (note,) = [note for note in phrasing.notes(document) if "Entries of cloud.json are numbered" in note]
    assert note not in phrasing.notes(by_line)
    regions = [
        json.dumps(json.loads(render(each, "sarif"))).count('"startLine"') for each in (document, by_line)
    ]
    assert regions[0] < regions[1]
    line = f"line={place['line']}::"
    assert (line in render(document, "github")) < (line in render(by_line, "github"))


def test_the_time_of_the_last_line_is_told_from_the_first() -> None:
    """In words that name both lines."""
    page = render(load("r101"), "html")
    assert re.search(r"first line [^<]* UTC, last line [\d.]+ \w+ later", page)


def test_a_heading_has_something_below_it() -> None:
    """Where all that is left follows from the verdict, the page says that nothing speaks against it."""
    told = load("r101") | {"alternatives": [], "near_misses": []}
    for worker in told["workers"]:
        worker["ended"]["sure"] = worker["seen"] = True
    lost = {
        "rule": "lost",
        "title": "A peer was lost",
        "cause": "peer.lost",
        "explained_by": ["user-exception"],
    }
    told["findings"] = [f for f in told["findings"] if f["role"] != "symptom"]
    told["findings"].append(told["findings"][0] | lost)
    page = render(told, "html").partition('<section id="against"')[2].partition("</section>")[0]
    assert "Nothing in the files speaks against the verdict; what else they show follows from it." in page
    assert "Also seen, explained by the above" in page


def test_the_words_of_a_report_are_explained_in_it() -> None:
    """The page of a failure folds away the same table as the document; a healthy one needs none."""
    table = (ROOT / "docs" / "report.md").read_text(encoding="utf-8").partition("## Words")[2]
    rows = dict(re.findall(r"^\| (?!word \|)(\w[\w ]*) \| (.*) \|$", table, re.MULTILINE))
    assert rows == decision.wording()["glossary"]
    page = render(load("r101"), "html")
    words = page.partition('<details id="words">')[2].partition("</details>")[0]
    assert words.count("<dt>") == len(rows)
    assert '<a href="#words">' in page
    assert 'id="words"' not in render(load("r031"), "html")


def test_a_line_is_quoted_once_on_a_page() -> None:
    """Further findings that rest on it lead to the first one."""
    told = load("r101")
    first = told["findings"][0]
    told["findings"].append(first | {"rule": "again", "explained_by": [first["rule"]]})
    page = render(told, "html")
    again = page.partition('id="finding-again"')[2].partition("</article>")[0]
    assert len(first["evidence"]) == again.count("Shown above as evidence <a") == again.count("<figure")
    assert 'class="excerpt"' not in again
