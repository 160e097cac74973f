"""Text copied from a terminal that shows several windows side by side, as tmux does: a log in each pane."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

from analyzer.ingest.logs.documents import TextLine
from analyzer.ingest.logs.pastes.hard_wraps import joined
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line

_BORDER = "│"
_MIN_SHARE = 0.95
"""Share of the lines that have a border at a pane's edge."""
_MIN_WIDTH = 40
_MIN_BEGUN = 2
"""Lines of TensorFlow or Python that a pane shows at least; a column of a table has none."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of each pane, broken ones joined; none unless several panes show a log."""
    lines = text.splitlines()
    places = Counter(at for line in lines for at, sign in enumerate(line) if sign == _BORDER)
    edges = sorted(at for at, count in places.items() if count >= _MIN_SHARE * len(lines))
    sides = [(left + 1, right) for left, right in pairwise([-1, *edges, max(map(len, lines), default=0)])]
    panes = [
        [line[left:right].rstrip() for line in lines] for left, right in sides if right - left >= _MIN_WIDTH
    ]
    logs = [pane for pane in panes if sum(map(begins_own_line, pane)) >= _MIN_BEGUN]
    if len(logs) < 2 or len(logs) < len(sides):
        return ()
    shown = ([*enumerate(joined(pane), 1)] for pane in logs)
    named = (
        [TextLine(f"pane-{place}", line, number) for number, line in pane if line]
        for place, pane in enumerate(shown, 1)
    )
    return [*chain.from_iterable(named)]
