"""Finds the errors in a post that its writer had solved before the one that the post is about.

A post shows the first error, says that it is gone, and shows what came then. Only that is the job's end.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from analyzer.ingest.logs.pastes.line_forms import PROSE, Form
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.tracebacks.lines import names_error, starts_traceback

_BETWEEN_SENTENCES = lazy_regex(r"(?<=[.!?])\s+|(?<=[。！？，；])")
_SOLVED = lazy_regex(
    r"(?i:\b(?:i|we|that|this|it|which|problem|error|issue|one|exception|hang|crash|first)"
    r"(?: (?:have|has|had|is|was|got|just|now|finally|already|then|since|could be))*"
    r" (?:solved|fixed|resolved|worked around|got (?:rid of|past|around|over)|went away|goes away"
    r"|disappear(?:ed|s)|vanished|gone)\b"
    r"|\b(?:went away|(?:is|are|was|were) gone|no longer (?:appears?|occurs?|happens?|shows?|there|comes?)"
    r"|(?:problem|error|issue)s? (?:solved|fixed|resolved)|(?:solved|fixed|resolved) (?:it|this|that)\b)"
    r"|\b(?:behoben|gelöst|verschwunden|ist weg|résolue?|réglée?|corrigée?|disparue?|solucion(?:ado|é)"
    r"|resuelt[oa]|arregl(?:ado|é)|desapareció|resolvid[oa]|corrigid[oa]|sumiu|risolt[oa]|sparit[oa]|решил[аи]?|решено"
    r"|исправил[аи]?|исчезл[ао]|пропал[ао]?)\b)"
    r"|(?<![没未不])(?:解决了|解決した|解決しました|直りました|修好了|不再报|不再出现|没有了|消失了|消えました)|해결(?:했|됐|되었)"
)
"""Regex for a statement that an error is over."""
_NOW = lazy_regex(
    r"(?i:^\W*(?:(?:but|and|so|then|yet|however),? )?now\b|[,;:–—-] ?(?:but |and |so )?now\b"
    r"|\b(?:but|and|so) now\b"
    r"|\bnow (?:i|we|it|there|get|gets|another|instead|says|fails|hangs|comes|shows)\b"
    r"|\b(?:i|we|it|is|are|am) now\b|\binstead,? (?:i|we|it|there)\b"
    r"|\b(?:a|the) (?:new|different|next) (?:error|problem|issue|exception|one)\b"
    r"|\banother (?:error|problem|issue|exception)\b|\b(?:changed|turned) (?:in)?to\b"
    r"|\b(?:jetzt|nun|maintenant|ahora|agora|adesso|теперь)\b)"
    r"|现在|又报|变成|接着|今度は|이제"
)
"""Regex for a sentence that goes on to what happens since."""
_HANGS = lazy_regex(
    r"(?i:\b(?:hangs?|hung|stuck|freezes?|frozen|stalls?|blocks?|waits?|for ?ever|stops"
    r"|nothing (?:more )?happens)\b)"
    r"|卡住|卡在|挂起|一直等"
)
_UNSURE = lazy_regex(
    r"(?i:\b(?:not|never|cannot|how|can|should|would|will|need|want|hope\w*|until|whether|if|unless|please|maybe"
    r"|perhaps|might|may|help|yet|try(?:ing)? to|in order to|(?:some|any)(?:one|body)|nicht|pas|não|non|не"
    r"|works?|runs fine|trains fine|better|faster)\b|n['’]t\b)|[?？]|吗|没解决|未解决|怎么|如何"
)
"""Regex for a sentence that asks, doubts or denies, or tells that all is well now."""
_UPDATE = lazy_regex(r"(?i:\W*(?:update|edit|upd)\b[ #.:]{0,3}(?P<number>\d{1,2})\b)")
"""Regex for the beginning of a numbered addition to a post."""
_OTHER_PROCESS = lazy_regex(
    r"(?i:\b(?:worker|chief|master|ps|rank|node|host|machine|server|pod|replica|gpu|card)s?\b)"
    r"|节点|机器|主机|ノード|Knoten|Rechner"
)
"""Regex for a sentence that may go on to another process of the same job, not to a later run."""


def solved(lines: Sequence[str], forms: Sequence[Form], shown: Sequence[str]) -> range:
    """Return the numbers of the lines of `shown` that show errors which the post says were solved.

    `lines` are those of the whole post, `forms` says what each is, and in `shown` what no program printed is
    empty.
    """
    errors = [at for at, line in enumerate(shown) if _is_error(line.strip(), {"E", "F"})]
    ends = [at for at in errors if _is_error(shown[at].strip(), {"F"})]
    if older := _older_updates(lines, forms, errors):
        return older
    for at in range(len(lines) - 1, -1, -1):
        if not errors or at < errors[0]:
            break
        is_said = forms[at] in PROSE and not shown[at]
        if is_said and _turns(lines[at], fails_again=at < max(ends, default=-1)):
            return range(errors[0], at)
    return range(0)


def _older_updates(lines: Sequence[str], forms: Sequence[Form], errors: Sequence[int]) -> range:
    """Return the lines below the newest update, if it shows an error and the post numbers them downwards."""
    said = ((at, _UPDATE.match(lines[at])) for at, what in enumerate(forms) if what in PROSE)
    updates = [(at, int(match["number"])) for at, match in said if match]
    is_downwards = len(updates) > 1 and all(one[1] > other[1] for one, other in pairwise(updates))
    if is_downwards and any(updates[0][0] < at < updates[1][0] for at in errors):
        return range(updates[1][0], len(lines))
    return range(0)


def _turns(line: str, *, fails_again: bool) -> bool:
    """Return True if a line says that what stands above is over, and goes on to a later failure.

    Where no error follows (`fails_again`), it has to say both, or that the job hangs since.
    """
    if _OTHER_PROCESS.search(line):
        return False
    sure = [each for each in _BETWEEN_SENTENCES.split(line) if each and not _UNSURE.search(each)]
    is_over, goes_on = (any(map(each.search, sure)) for each in (_SOLVED, _NOW))
    if fails_again and (is_over or goes_on):
        return True
    return goes_on and (is_over or any(map(_HANGS.search, sure)))


def _is_error(text: str, levels: AbstractSet[str]) -> bool:
    """Return True for an exception, and for a record of a level; TensorFlow starts with some of level E."""
    if names_error(text) or starts_traceback(text):
        return True
    found = head(text)
    return found is not None and found.level in levels
