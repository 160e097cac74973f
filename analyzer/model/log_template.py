"""Converts log text to templates: addresses, paths, tasks and numbers are masked."""

from analyzer.model.lazy_regex import lazy_regex

# A line of a thousand letters must not cost a million steps: a scheme is looked for once a word, and the name
# of a host has 255 letters at most.
_VOLATILE = (
    (lazy_regex(r"\b\w+://\S+"), "<url>"),
    (lazy_regex(r"(?:/[\w.@+=-]+){2,}/?"), "<path>"),
    (
        lazy_regex(
            r"(?i:\b(?:run|job|trial|experiment|session|request|trace|span|execution)_?id)\b[\"']?\s?[=:]\s?[\"']?[\w.-]{1,80}"
            r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
        ),
        "<id>",
    ),
    (lazy_regex(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b"), "<hex>"),
    (
        lazy_regex(r"/job:\w+(?:/replica:\d+)?/task:\d+(?:/device:\w+:\d+)?|\b(?:worker|chief|ps)[:-]\d+\b"),
        "<task>",
    ),
    (lazy_regex(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\b[\w.-]{1,255}+:\d{2,5}\b"), "<address>"),
    (lazy_regex(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"), "<n>"),
)
_MASK = lazy_regex("|".join(dict.fromkeys(mask for _, mask in _VOLATILE)))

_STAMPS = lazy_regex(
    r"(?:[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )?"
    r"\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\])]?(?=[\s:])\s*){1,3}"
)
"""Regex for the times before a line: its own, and those of the programs that collected it."""


def template_of(text: str) -> str:
    """Return a text with everything masked that differs between runs."""
    for pattern, mask in _VOLATILE:
        text = pattern.sub(mask, text)
    return " ".join(text.split())


def undated_template(text: str) -> str:
    """Return the template of a text without the times before it, so that it is equal however it was kept."""
    stamps = _STAMPS.match(text)
    return template_of(text[stamps.end() :] if stamps else text)


def literals_between(text: str) -> list[str]:
    """Return the parts of a template between its masks."""
    return _MASK.split(text)
