"""Recognizes output directories of mwms-triage, which are no runs, and hides what it wrote into them."""

from analyzer.triage.examine.storage import Listing

_FILES = frozenset({"digest.md", "groups.json", "runs.jsonl", "metrics.prom"})
"""Files that identify an output directory of mwms-triage."""
_HISTORY = "history.sqlite"
_HISTORY_FILES = frozenset({_HISTORY, *(f"{_HISTORY}-{suffix}" for suffix in ("journal", "shm", "wal"))})
_FOLDERS = frozenset({"digests", "nights", "reports"})


def is_output_folder(listing: Listing) -> bool:
    """Return True for an output directory; if the first call was killed, it may hold only a history."""
    files = {*listing.files}
    return files >= _FILES or (_HISTORY in files and files <= _HISTORY_FILES)


def without_outputs(listing: Listing) -> Listing:
    """Return the listing of an output directory without its own files and pages; any other one as it is.

    Files directly in an output directory are of no run: a log there is that of mwms-triage itself.
    """
    if not is_output_folder(listing):
        return listing
    return Listing((), tuple(name for name in listing.folders if name not in _FOLDERS))
