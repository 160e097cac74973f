"""Renders `--explain`: how the diagnosis follows from files, signals and findings."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analyzer.render import blame, formatting
from analyzer.render.finding_order import fired_findings, location
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
_MAX_TEXT, _MAX_PLACES, _MAX_SOURCES = 400, 8, 12
_MOST_HEALTHY = 0.95
"""Highest confidence of a healthy verdict; of a lower one, the last sentence of `why` is the reason."""
_SURE = "95 % is the maximum for a healthy run: a fault that no file shows cannot be ruled out."


def explain(diagnosis: Json, width: int = 100) -> str:
    """Return the steps that led to a diagnosis as text, wrapped at `width` columns."""
    parts = (
        ("What was read", _sources(diagnosis)),
        ("Clocks", _clocks(diagnosis.get("clocks", ()))),
        ("Barriers", _barriers(diagnosis.get("barriers", ()))),
        ("Evidence, signals, findings", _findings(diagnosis)),
        ("Ranking of the causes", _ranking(diagnosis)),
        ("What nearly fired", near_misses(diagnosis)),
        ("What was tried", _rule_outcomes(diagnosis)),
        ("Verdict", _verdict(diagnosis)),
    )
    lines = [line for title, body in parts for line in _section(title, list(body), width)]
    return "\n".join(lines) + "\n"


def near_misses(diagnosis: Json) -> Iterator[str]:
    """Yield a sentence for each cause that lacked one signal, with the file to collect next time."""
    for near in diagnosis.get("near_misses", ()):
        of = f" of {near['worker']}" if near["worker"] else ""
        collect = f"; to decide it, collect {near['collect']}" if near["collect"] else ""
        yield (
            f"{one_line(near['cause'], 80)}{of}: rule {near['rule']} lacks only the signal "
            f"“{near['missing']}”{collect}"
        )


def _section(title: str, body: Sequence[str], width: int) -> Iterator[str]:
    if body:
        yield from ("", title)
    for line in body:
        depth = len(line) - len(line.lstrip())
        first, rest = " " * (depth + 2), " " * (depth + 6)
        yield from textwrap.wrap(
            one_line(line.strip()),
            width,
            initial_indent=first,
            subsequent_indent=rest,
            break_on_hyphens=False,
        )


def _sources(diagnosis: Json) -> Iterator[str]:
    guessed = {each["id"]: each.get("guessed") for each in diagnosis["workers"]}
    for source in diagnosis["sources"][:_MAX_SOURCES]:
        lines = "" if source["lines"] is None else f", {formatting.plural(source['lines'], 'line')}"
        of = f" of {source['worker']}" if source["worker"] else ""
        of += f" (guessed {how})" if (how := guessed.get(source["worker"])) else ""
        reason = f": {one_line(source['reason'], 120)}" if source["reason"] else ""
        yield f"{one_line(source['name'], 80)}: {source['kind']}{of}{lines}, {source['read']}{reason}"
    if (more := len(diagnosis["sources"]) - _MAX_SOURCES) > 0:
        yield f"and {formatting.plural(more, 'more file')}"


def _clocks(clocks: Sequence[Json]) -> Iterator[str]:
    for clock in clocks:
        name = f"{clock['worker']}, {'logs' if clock['kind'] == 'log' else 'event files'}"
        if clock["basis"] == "none":
            yield f"{name}: unknown; its times are not compared with those of others"
        else:
            off = "corrected" if clock["shift"] else "not corrected"
            steps = formatting.plural(clock["steps"], "shared step")
            yield f"{name}: {clock['offset']:+.2f} ± {clock['residual']:.2f} s, by {steps}; {off}"


def _barriers(barriers: Sequence[Json]) -> Iterator[str]:
    for barrier in barriers:
        came = {key: formatting.names(barrier[key]) or "nobody" for key in ("arrived", "awaited", "unknown")}
        place = f" ({barrier['place']})" if barrier["place"] else ""
        unknown = f"; unknown {came['unknown']}" if barrier["unknown"] else ""
        yield f"{barrier['barrier']}{place}: arrived {came['arrived']}; missing {came['awaited']}{unknown}"


def _findings(diagnosis: Json) -> Iterator[str]:
    for _, finding in fired_findings(diagnosis):
        of = f" ({formatting.names(finding['workers'])})" if finding["workers"] else ""
        cause = f", {finding['cause']}" if finding["cause"] else ""
        yield f"{finding['rule']}: {finding['role']}{cause}{of}"
        for place in finding["evidence"][:_MAX_PLACES]:
            yield "  " + _place(place)
        if (more := len(finding["evidence"]) - _MAX_PLACES) > 0:
            yield f"  and {formatting.plural(more, 'more place')}"
        if finding["role"] == "cause" and finding.get("reckoned"):
            sure = formatting.percent(finding["confidence"])
            yield f"  confidence {sure}: {', '.join(finding['reckoned'])}"
        if finding["explained_by"]:
            yield f"  explained by {formatting.listed(finding['explained_by'])}"


def _place(place: Json) -> str:
    at = location(place) or place["worker"] or "all files"
    signals = f" → {', '.join(place['signals'])}" if place.get("signals") else ""
    statement = one_line(place["excerpt"] or place["says"], _MAX_TEXT // 2)
    return f"{one_line(at, 80)}: {statement}{signals}" if statement else f"{one_line(at, 80)}{signals}"


def _ranking(diagnosis: Json) -> Iterator[str]:
    causes = [f for _, f in fired_findings(diagnosis) if f["role"] == "cause"]
    against = {each["rule"]: each["against"] for each in diagnosis["alternatives"]}
    for n, finding in enumerate(causes, 1):
        says = _choice_reason(finding, diagnosis, against)
        sure = formatting.percent(finding["confidence"])
        yield f"{n}. {finding['cause']}, rule {finding['rule']} ({sure}): {says}"


def _choice_reason(finding: Json, diagnosis: Json, against: Mapping[str, str]) -> str:
    if finding["rule"] == diagnosis["rule"]:
        return "chosen: the most certain of the causes that no other finding explains."
    if finding["explained_by"]:
        return f"not chosen: it follows from what {formatting.listed(finding['explained_by'])} found."
    return f"not chosen: {against.get(finding['rule'], 'it states the same cause as the chosen one.')}"


def _rule_outcomes(diagnosis: Json) -> Iterator[str]:
    counts = Counter(f["outcome"] for f in diagnosis["findings"])
    counted = [f"{counts[outcome]} {outcome}" for outcome in ("fired", "quiet", "not-applicable", "error")]
    yield f"{formatting.plural(len(diagnosis['findings']), 'rule')}: {', '.join(counted)}"


def _verdict(diagnosis: Json) -> Iterator[str]:
    title, workers = blame.blamed(diagnosis)
    cause = f", {diagnosis['cause']}" if diagnosis["cause"] else ""
    blamed = f", {title} {workers}" if workers else ""
    yield f"{diagnosis['verdict']}{cause}{blamed} ({formatting.percent(diagnosis['confidence'])})"
    if diagnosis["rule"] is None:
        yield "No cause was found: the verdict rests on how the workers ended."
        if diagnosis["verdict"] == "healthy":
            yield from [_SURE] if diagnosis["confidence"] >= _MOST_HEALTHY else diagnosis["why"][-1:]
        for worker in diagnosis["workers"]:
            sure = "" if worker["ended"]["sure"] else ", as far as can be inferred"
            yield f"  {worker['id']} {worker['ended']['says']}{sure}"
