"""The journal of Acme's scheduler → the fact `acme_drained` of each worker whose host was drained."""

import re

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import searched_text

NAMES = r"(^|/)acme-journal\.txt$"
_DRAINED = re.compile(r"worker-(?P<index>\d+) drained: (?P<reason>.{1,200})")


def read(output: SourceRows, matcher: Matcher) -> None:
    """Add a fact for each line about a drained host."""
    for number, line in enumerate(searched_text(output, matcher).split("\n"), 1):
        if match := _DRAINED.match(line):
            worker = f"worker:{match['index']}"
            output.add("facts", worker=worker, line=number, key="acme_drained", value=match["reason"])
