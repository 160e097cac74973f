"""One claim, one page: no verdict contradicts its own lines, and no rule the answers that follow from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from analyzer.engine.rule_types import Rule
from analyzer.pipeline import load_rules
from analyzer.render.decision import answers
from tests.recordings import SAMPLE_RUNS, Recordings

Document = Mapping[str, Any]
RULES = [rule for rule in load_rules().rules if rule.cause]
_TASK = re.compile(r"(?:worker|chief|ps|evaluator):\d+")
_CONDITION = re.compile(
    r"(?i)\bif memory|memory was|passing failure|is what to fix|how (?:it|\S+|the process) ended|ask for (?:more|less|what)"
)
"""What a next step says that makes a restart depend on something."""
_HOST = re.compile(
    r"(?i)leave (?:that host|it) out(?!.* until|.*under the strategy)|exclude (?:that host|it)\b|the host may hang|\bbad machine"
)


_EARLIER = re.compile(r"(?i)checkpoint before (?:that|the)|resume from the one before|from the last good one")


def test_the_answers_of_a_rule_follow_from_its_texts() -> None:
    """A restart that depends on something says on what; a host that may be at fault is not cleared."""
    assert [(rule.id, fault) for rule in RULES for fault in _unanswered(rule)] == []


def _unanswered(rule: Rule) -> Iterator[str]:
    """Yield each key of `action` that does not follow from the rule's texts."""
    texts, action = [rule.summary, *rule.why, *(step.text for step in rule.next)], rule.action
    if action.retry == "as_is" and any(map(_CONDITION.search, texts)) and not action.unless:
        yield "unless is missing"
    if any(map(_HOST.search, texts)) and not (action.host == "watch" or action.retry == "exclude_host"):
        yield "host"
    if any(map(_EARLIER.search, texts)) and action.checkpoint != "earlier":
        yield "checkpoint"
    if action.unless and action.retry != "as_is":
        yield "unless without a restart"


def _stepped(document: Document, _: str) -> bool:
    return any((each["last_step"]["step"] or 0) > 0 for each in document["workers"])


def _logged(document: Document, said: str) -> bool:
    """Whether a worker that is said to have left nothing did leave a log."""
    logs = {each["name"] for each in document["sources"] if each["kind"] == "log"}
    named = set(_TASK.findall(re.split(r"left (?:no|nothing)|never started", said)[0]))
    return any(logs.intersection(each["sources"]) for each in document["workers"] if each["id"] in named)


def _broke(document: Document, _: str) -> bool:
    return any(
        re.search(r"Socket closed|Connection (?:reset|refused)", place["excerpt"])
        for finding in document["findings"]
        for place in finding["evidence"]
        if finding["rule"] == document["rule"]
    )


def _not_all_ended(document: Document, _: str) -> bool:
    ends = [
        each["ended"]["how"] for each in document["workers"] if each["id"].startswith(("worker", "chief"))
    ]
    return any(how != "finished" for how in ends)


def _named(document: Document, _: str) -> bool:
    return bool(document["culprits"])


REFUTED_BY: Mapping[str, Callable[[Document, str], bool]] = {
    r"no (?:training )?step (?:ran|was|is)|(?:made no|(?:no worker|none) made a) (?:training )?step|before (?:the|any) first step": _stepped,
    r"left (?:no (?:file|log)|nothing)|never started": _logged,
    r"no connection|nobody saw": _broke,
    r"all .*workers? (?:reached|finished)": _not_all_ended,
    r"do not (?:tell|show) (?:which task|who|whose)": _named,
}
"""Words of a statement → what on the same page shows that they are wrong."""


@pytest.mark.parametrize("sample", SAMPLE_RUNS, ids=lambda sample: sample.name)
def test_no_page_contradicts_itself(sample: Path, recordings: Recordings) -> None:
    """What is said of steps, logs, connections, ends and blame agrees with the table of the workers."""
    document = recordings.document(sample)
    said = list(_statements(document))
    wrong = [
        text
        for text in said
        for words, refuted in REFUTED_BY.items()
        if re.search(words, text, re.IGNORECASE) and refuted(document, text)
    ]
    assert wrong == []
    assert _unmentioned_versions(document, said) == []


def _statements(document: Document) -> Iterator[str]:
    """Yield the sentences that the page makes its own: the verdict's, and those of findings that stand."""
    yield from (document["summary"], *document["why"], *(step["text"] for step in document["next"]))
    for finding in document["findings"]:
        stands = not finding["explained_by"] and not finding["contradicted_by"]
        if finding["outcome"] == "fired" and finding["role"] in {"cause", "context"} and stands:
            yield from (finding["summary"], *finding["why"])
    for answer in answers(document):
        yield f"{answer.answer} ({answer.detail})"


def _unmentioned_versions(document: Document, said: Sequence[str]) -> list[str]:
    """Return the versions of the page's header where they differ and no sentence says so."""
    versions: list[str] = document["run"]["tensorflow"]
    return versions if len(versions) > 1 and not any("version" in text.lower() for text in said) else []
