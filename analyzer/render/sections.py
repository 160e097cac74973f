"""Lists the sections that text and Markdown show below the decision, in order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render import formatting, phrasing
from analyzer.render.explain import near_misses
from analyzer.render.finding_order import leading_evidence, unread_sources
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
_MAX_EVIDENCE = 12


class Section(NamedTuple):
    """A title with a list of items.

    `style` is the type of the items: texts (`numbered` or `bullets`), `steps` with a command, `files` with a
    reason, pieces of evidence (`places`), or the last lines of a worker (`words`). Renderers show only the
    first few items of a `minor` section.
    """

    title: str
    style: str
    items: Sequence[Any]
    minor: bool = False


def sections(d: Json) -> list[Section]:
    """Return the sections of a diagnosis that have items."""
    why = phrasing.why_heading(d)
    unclear = why != "Why"
    every = [
        Section(why, "numbered", d["why"]),
        Section("What differs", "bullets", phrasing.differences(d) if unclear else ()),
        Section("Causes with one signal missing", "bullets", [*near_misses(d)] if unclear else ()),
        Section("Most telling lines", "places", phrasing.telling_lines(d)),
        Section("What would settle the cause", "bullets", phrasing.deciding_file(d)),
        Section("Last words", "words", d["last_words"]),
        Section("Lines that stand out", "places", d.get("odd_lines", ())),
        Section("Next", "steps", d["next"]),
        Section("Notes", "bullets", phrasing.notes(d)),
        Section("Evidence", "places", leading_evidence(d, _MAX_EVIDENCE)),
        *_against(d.get("against")),
        Section("What XProf says", "bullets", phrasing.xprof_report(d)),
        Section("What else it could be", "bullets", [_alternative(each) for each in d["alternatives"]]),
        Section("Also seen, explained by the above", "bullets", phrasing.consequences(d), minor=True),
        Section("What was not read, or only in part", "files", unread_sources(d), minor=True),
        Section("Not collected", "bullets", phrasing.uncollected(d)),
    ]
    return [each for each in every if each.items]


def _against(good: Json | None) -> Iterator[Section]:
    if good:
        differences = phrasing.against(good) or ["No difference in facts, pace and curves."]
        run = one_line(good["run"], 60)
        yield Section(f"Against {run}, {phrasing.how_it_went(good)}", "bullets", differences)
        yield Section(f"Lines that {run} does not have", "places", good["lines"])


def _alternative(other: Json) -> str:
    workers = f" of {formatting.names(other['culprits'])}" if other["culprits"] else ""
    sure = f"{formatting.confidence(other['confidence'])}, {formatting.percent(other['confidence'])}"
    return f"{one_line(other['cause'], 80)}{workers} ({sure}): {other['against']}"
