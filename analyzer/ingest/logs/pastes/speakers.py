"""Finds what people say in a chat whose lines begin with nothing but a name: `anna: was it killed?`.

Programs label lines alike, so that only a talk counts: two names take turns, and both speak to each other.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from analyzer.ingest.logs.pastes.line_forms import is_spoken
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.tracebacks.lines import names_error

_LABEL = lazy_regex(
    r"(?P<name>@?[^\W\d_][\w.'-]{0,24}(?: [^\W\d_][\w.'-]{0,20})?)(?: ?\([^()]{1,20}\))?: (?=\S)"
)
_NO_PERSON = lazy_regex(
    r"(?i:(?:.*[ _.-])?(?:worker|chief|master|ps|evaluator|rank|node|host|pod|task|replica|gpu|cpu|process"
    r"|debug|info|notice|warn(?:ing)?|error|fatal|critical|note|hint|tip|usage|version|step|epoch|loss|python\d*"
    r"|bash|sh|zsh|srun|sbatch|slurmstepd|mpirun|kubelet|kubectl|docker|traceback|file|line|input|output|e|w|i|f)"
    r"[ _.-]?\d*)$"
)
"""Regex for a label that a program, a level, a part of the job or a form writes."""
_TALK = lazy_regex(r"(?i:^(?:no|yes|yep|yeah|ok(?:ay)?|ah|oh|hm+|maybe|what|why|how)\b)")
"""Regex for how people begin to answer or to ask; programs begin so at times."""
_TO_EACH_OTHER = lazy_regex(
    r"(?i:\b(?:you|your|yours|i|my|me|mine|nope|hi|hello|hey|thanks|thx|sorry|please|pls|lol)\b)|\w\s?\?(?:\s|$)"
)
"""Regex for what a person says to another one."""
_LEAST_LINES = 3
_MAX_PASTED = 2
"""Lines of TensorFlow or Python that a person may say; what stands before more of them names their writer."""


def said_in_chat(lines: Sequence[str]) -> Mapping[int, str]:
    """Return line number → what is said there, without the name before it; empty if the lines are no chat."""
    labelled = [(at, match) for at, line in enumerate(lines) if (match := _LABEL.match(line))]
    named = [
        (at, match["name"], lines[at][match.end() :])
        for at, match in labelled
        if not _NO_PERSON.match(match["name"]) and not names_error(lines[at])
    ]
    writing = Counter(name for _, name, said in named if begins_own_line(said))
    named = [each for each in named if writing[each[1]] <= _MAX_PASTED]
    speaking = {name for _, name, said in named if is_spoken(said) or _TO_EACH_OTHER.search(said)}
    talking = speaking | {name for _, name, said in named if _TALK.search(said)}
    turns = [(at, name, said) for at, name, said in named if name in talking]
    changes = sum(one[1] != other[1] for one, other in pairwise(turns))
    if not speaking or len(talking) < 2 or len(turns) < _LEAST_LINES or changes < 2:
        return {}
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    return {at: said for at, _, said in turns} if turns[0][0] == first else {}
