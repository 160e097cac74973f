"""Finds manifests of Kubernetes in what was pasted: they declare a job, and nothing in them has happened.

An object that was read back from the cluster has a `status`, or is an event, and stays.
"""

from collections.abc import Iterator, Sequence

from analyzer.model.lazy_regex import lazy_regex

_BEGINS = lazy_regex(r"(?P<indent>\s*)apiVersion: [\w./-]+\s*$")
_KIND = lazy_regex(r"\s*kind: [A-Z]\w+\s*$")
_HAPPENED = lazy_regex(r"\s*(?:- )?(?:status:|kind: Event\b)")
_GOES_ON = lazy_regex(r"(?:[\w./-]+:(?:\s|$)|- |#|---\s*$)")
"""Regex for a line of YAML that is indented as the first one."""
_CLUSTER = lazy_regex(r"TF_CONFIG|[\"']cluster[\"']\s*:")
"""Regex for a line that states the cluster, which is read wherever it stands."""


def declared(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines, from 0, that belong to manifests and state no cluster."""
    at = 0
    while at < len(lines):
        begins = _BEGINS.match(lines[at])
        end = _end(lines, at, begins["indent"]) if begins else at + 1
        whole = lines[at:end]
        if begins and any(map(_KIND.match, whole)) and not any(map(_HAPPENED.match, whole)):
            yield from (number for number in range(at, end) if not _CLUSTER.search(lines[number]))
        at = end


def _end(lines: Sequence[str], start: int, indent: str) -> int:
    """Return the number of the line after the last one of a manifest."""
    end = start + 1
    for at in range(start + 1, len(lines)):
        line = lines[at]
        own = line.removeprefix(indent)
        if line.strip() and (not line.startswith(indent) or not (own[:1].isspace() or _GOES_ON.match(own))):
            break
        end = at + 1 if line.strip() else end
    return end
