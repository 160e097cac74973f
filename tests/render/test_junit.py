"""The diagnosis as a CI result: well-formed, counted right, and nothing in it is markup of the run."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from analyzer.render import render
from tests.render.documents import ALL, document, load

Json = Any
INVISIBLE = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0x7F, 0x202E, 0xFFFE, 0xFFFF, 0xD800]))


def suite_of(diagnosis: Json) -> ET.Element:
    """The one suite of a diagnosis."""
    root = ET.fromstring(render(diagnosis, "junit").encode("utf-8", "strict"))
    assert root.tag == "testsuites"
    (suite,) = root
    return suite


@pytest.mark.parametrize("name", ALL)
def test_keeps_to_what_ci_servers_read(name: str) -> None:
    """Elements and attributes of the common schemas, required ones present, and counts that agree."""
    suite = suite_of(document(name))
    needed = {"name", "tests", "failures", "errors", "skipped", "time"}
    assert set(suite.keys()) - {"timestamp"} == needed
    assert float(suite.attrib["time"]) >= 0
    cases = list(suite)
    assert {case.tag for case in cases} == {"testcase"}
    assert int(suite.attrib["tests"]) == len(cases)
    for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.attrib[count]) == len(suite.findall(f"testcase/{tag}"))
    for case in cases:
        assert set(case.keys()) == {"name", "classname", "time"}
        assert len(case) <= 1
        for outcome in case:
            assert outcome.tag in {"failure", "error", "skipped"}
            assert set(outcome.keys()) == ({"message"} if outcome.tag == "skipped" else {"message", "type"})
            assert len(outcome) == 0
    assert len({case.attrib["name"] for case in cases}) == len(cases)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("r101", "failure"), ("r031", None), ("inconclusive", "error"), ("unknown", "failure")],
)
def test_the_job_is_a_case(name: str, outcome: str | None) -> None:
    """It failed, passed, or could not be judged; the whole page stands in it."""
    job = suite_of(load(name))[0]
    assert job.attrib["name"] == "job"
    assert [each.tag for each in job] == ([outcome] if outcome else [])
    if outcome:
        assert load(name)["summary"][:60] in job[0].attrib["message"]
        assert job[0].text is not None
        assert "Restart as is?" in job[0].text


def test_only_the_blamed_fail() -> None:
    """Whoever only lost a peer is skipped, for it was not tried."""
    told = load("r101")
    parts = {worker["id"]: worker["part"] for worker in told["workers"]}
    cases = {case.attrib["name"]: [each.tag for each in case] for case in suite_of(told)[1:]}
    assert cases == {
        worker: {"culprit": ["failure"], "suspect": ["failure"], "witness": ["skipped"]}.get(part, [])
        for worker, part in parts.items()
    }
    assert ["failure"] in cases.values()


def test_what_xml_forbids_is_written_out() -> None:
    """Control characters, lone surrogates, and markup, in every field that reaches it."""
    bad = f"{INVISIBLE}]]></failure><script>&amp;\"'\u2028"
    told = load("r101")
    told["run"]["name"] = told["summary"] = told["cause"] = bad
    told["why"] = [bad]
    for worker in told["workers"]:
        worker["ended"]["says"] = bad
    for place in told["findings"][0]["evidence"]:
        place |= {"excerpt": bad, "marks": [], "says": bad, "source": bad}
    text = render(told, "junit")
    suite = suite_of(told)
    assert {each.tag for each in suite.iter()} <= {"testsuite", "testcase", "failure", "skipped"}
    assert "<script>" in suite[0][0].attrib["message"]
    assert not [char for char in INVISIBLE if char in text]


def test_no_time_is_invented() -> None:
    """A run of which nobody knows when it began has no timestamp."""
    told = load("r101")
    told["run"] |= {"started": None}
    suite = suite_of(told)
    assert "timestamp" not in suite.attrib
    assert suite.attrib["time"] == "0"
