"""Lines of a post → those that a program printed; what people write around them is emptied.

Form decides, not wording: a sentence of a person says nothing of the job, for others had that error, or an
earlier run, or nobody. Only in a post that shows no log a message counts that a single sentence quotes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import or_

from analyzer.ingest.logs.collectors.streams import detect_style
from analyzer.ingest.logs.pastes.line_forms import (
    FEW_WORDS,
    PROSE,
    SENTENCE_WORDS,
    Form,
    all_collected,
    form,
    is_of_logger,
    is_of_post,
    is_paragraph,
    is_speech,
)
from analyzer.ingest.logs.pastes.solved_errors import solved
from analyzer.ingest.logs.pastes.speakers import said_in_chat
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.tracebacks.lines import names_error

_CERTAINLY_CODE = lazy_regex(
    r"(?:import \w[\w.]*(?: as \w+)?|from [\w.]+ import [\w*(].*|(?:def|class) \w+ ?[(:].*)$"
)
_STATEMENT = lazy_regex(
    r"(?:import|from|def|class|return|raise|if|elif|for|while|with|except|assert|del)\b.*|(?:try|else|finally):"
    r"|[@)#\]}].*|[\w.]+(?:\[[^\]]*\])?(?:, ?\w+)* ?[-+*/]?= ?\S.*|[\w.]+\(.*"
)
_EXPECTED = lazy_regex(
    r"\W{0,4}(?i:(?:(?:describe )?the |what (?:is|was) the )?(?:expected|desired) "
    r"(?:behaviou?r|results?|output))\W*$"
)
_HEADING = lazy_regex(r"\s{0,3}(?:#{1,6} |\*\*|__)\S")
_SUBJECT = lazy_regex(r"(?:Subject|Betreff|Objet|Asunto): \S")
_LSF_REPORT = lazy_regex(r"Sender: LSF System <")
_DIGITS = lazy_regex(r"\d+")
_NUMBERED = lazy_regex(r"[a-z][\w.-]*\d[\w.-]*:(?: |$)")
"""Regex for the name of a machine or of a task before a line; people have no numbers."""
_CHECKED, _MIN_NAMED = 400, 0.98
"""Lines in which a prefix is looked for, and the share of all lines that have it in a log without a post."""
_KERAS_LAYER = "Error: Exception encountered when calling "
"""What Keras prints above the message of an exception, with a blank line between them."""
_LEAST_CODE = 3
"""Minimum number of lines that are taken for code."""
_LONG_OPENING = 3
"""Minimum number of lines of prose with which a post begins whose author says neither `I` nor asks."""
_QUOTATION = lazy_regex(
    r"\"[^\"]+\"|`[^`]+`|“[^”]+”|\b[A-Z]\w+(?:Error|Exception): .+"
    r"|\bwith (?:a non-zero )?(?:exit )?(?:code|status)(?: of)? \d{1,3}\b"
)
_MESSAGE_WORDS = 4
"""Minimum number of words of a message; fewer are a name that a sentence mentions."""
_QUOTED = "\N{NULL}"
_BETWEEN_SENTENCES = lazy_regex(r"(?<=[.!?])\s+(?=[A-Z\"'`(*])")
_UNSURE = lazy_regex(
    r"(?i:\b(?:no|not|never|none|nor|neither|without|if|unless|whether|maybe|perhaps|probably|like|similar"
    r"|an?other|may|might|could|would|should|was|were|had|did|used|got|been|before|earlier|previous\w*|first"
    r"|old|yesterday|last|thought|think|suspect|guess|assume|expect\w*|solved|fixed|(?:some|any)(?:one|body)"
    r"|people)\b|n['’]t\b)"
)
"""Regex for a sentence that may tell of what did not happen, or not in this job."""


def printed(lines: Sequence[str], fences: Sequence[bool], quoted: Sequence[bool]) -> list[str]:
    """Return the lines, without prose and code if they are a post; each line keeps its number.

    `fences` says which lines begin or end a block of code, `quoted` which are marked as code themselves.
    """
    inside = _inside(fences)
    verbatim = [*map(or_, inside, quoted)]
    chat = {} if all(map(_NUMBERED.match, filter(str.strip, lines))) else said_in_chat(lines)
    if not chat and not any(inside) and _is_log(lines, verbatim):
        return list(lines)
    lines = [chat.get(at, line) for at, line in enumerate(lines)]
    least = FEW_WORDS if any(inside) else SENTENCE_WORDS
    forms = [
        _form_of_code(line) if is_code else form(line, least)
        for line, is_code in zip(lines, verbatim, strict=True)
    ]
    _mark_repeated(lines, forms)
    _mark_told_by_keras(lines, forms)
    _mark_expected(lines, forms, inside)
    for at, said in chat.items():
        forms[at] = Form.PRINTED if is_of_logger(said.strip()) else Form.SPOKEN
    if not chat and (not _is_post(lines, forms, inside) or (not any(inside) and _is_collected(lines))):
        return list(lines)
    kept = list[bool]()
    for start, end in _blocks(lines, fences):
        is_announced = _is_announced(lines, forms, start)
        kept += _kept(lines[start:end], forms[start:end], is_announced=is_announced)
    shown = [line if is_kept else "" for line, is_kept in zip(lines, kept, strict=True)]
    for at in solved(lines, forms, shown):
        shown[at] = "" if not fences[at] else shown[at]
    if Form.PRINTED not in forms and not any(inside):
        _restore_quotation(shown, lines)
    return shown


def _is_log(lines: Sequence[str], verbatim: Sequence[bool]) -> bool:
    """Return True if a collector labels each line, or the first and the last line were printed.

    Below what a job printed, LSF adds its report in the form of a mail.
    """
    numbers = [at for at, line in enumerate(lines) if line.strip()]
    if all_collected(lines):
        return True
    ends = numbers[:1] if any(map(_LSF_REPORT.match, lines)) else {numbers[0], numbers[-1]}
    return all(not verbatim[at] and form(lines[at], SENTENCE_WORDS) is Form.PRINTED for at in ends)


def _is_collected(lines: Sequence[str]) -> bool:
    """Return True if nearly all lines have a prefix that names their writer, of a form that may be new."""
    written = [line for line in lines if line.strip()]
    style = detect_style(written[:_CHECKED])
    named = sum(found is not None and found.key is not None for found in map(style, written)) if style else 0
    return named >= _MIN_NAMED * len(written)


def _mark_repeated(lines: Sequence[str], forms: list[Form]) -> None:
    """Mark, in place, sentences that differ only in their numbers as printed: a program repeats itself so."""
    templates = [_DIGITS.sub("0", line.strip()) for line in lines]
    often = Counter(_DIGITS.sub("0", line) for line in {line.strip() for line in lines})
    for at, what in enumerate(forms):
        if what is Form.SENTENCE and often[templates[at]] > 1:
            forms[at] = Form.PRINTED


def _mark_told_by_keras(lines: Sequence[str], forms: list[Form]) -> None:
    """Mark, in place, as printed what Keras tells below the name of the layer that raised an exception."""
    is_below = False
    for at, line in enumerate(lines):
        if is_below and forms[at] is not Form.BLANK:
            forms[at] = Form.PRINTED
            is_below = False
        is_below = is_below or _KERAS_LAYER in line


def _mark_expected(lines: Sequence[str], forms: list[Form], inside: Sequence[bool]) -> None:
    """Mark, in place, lines that say what was expected to happen as a person's words, not as a log.

    They begin below a heading such as "Expected behavior" and end at the next heading, block or log line.
    """
    is_expected = False
    for at, line in enumerate(lines):
        if inside[at] or _HEADING.match(line) or forms[at] is Form.PRINTED:
            is_expected = not inside[at] and _HEADING.match(line) is not None and bool(_EXPECTED.match(line))
        elif is_expected and line.strip():
            forms[at] = Form.SPOKEN


def _form_of_code(line: str) -> Form:
    return Form.PRINTED if is_of_logger(line.strip()) else Form.OTHER


def _inside(fences: Sequence[bool]) -> list[bool]:
    """Return which lines are within blocks of code, or their first or last."""
    inside, is_open = [], False
    for is_fence in fences:
        is_open ^= is_fence
        inside.append(is_open or is_fence)
    return inside


def _is_post(lines: Sequence[str], forms: Sequence[Form], inside: Sequence[bool]) -> bool:
    """Return True if a person speaks around what was printed."""
    own = [
        what
        for what, is_inside in zip(forms, inside, strict=True)
        if not is_inside and what is not Form.BLANK
    ]
    prose = sum(what in PROSE for what in own)
    if not prose or own[0] is own[-1] is Form.PRINTED:
        return False
    opening = own.index(Form.PRINTED) if Form.PRINTED in own else len(own)
    return (
        any(inside)
        or (Form.SPOKEN in own and own.count(Form.SPOKEN) + own.count(Form.TITLE) > 1)
        or sum(what in PROSE for what in own[:opening]) >= _LONG_OPENING
        or any(what is Form.SPOKEN and is_speech(line) for line, what in zip(lines, forms, strict=True))
        or (prose > 1 and any(map(_SUBJECT.match, lines)))
        or (len(own) > 1 and _has_paragraph(lines, forms))
    )


def _has_paragraph(lines: Sequence[str], forms: Sequence[Form]) -> bool:
    """Return True if there is a paragraph between blank lines."""
    around = [Form.BLANK, *forms, Form.BLANK]
    return any(
        what is Form.SENTENCE and around[at] is around[at + 2] is Form.BLANK and is_paragraph(lines[at])
        for at, what in enumerate(forms)
    )


def _blocks(lines: Sequence[str], fences: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each block of code, and of each run of lines without a blank one."""
    start, is_open = 0, False
    for at, line in enumerate(lines):
        if fences[at] or not (is_open or line.strip()):
            is_open ^= fences[at]
            if at > start:
                yield start, at
            yield at, at + 1
            start = at + 1
    if start < len(lines):
        yield start, len(lines)


def _is_announced(lines: Sequence[str], forms: Sequence[Form], start: int) -> bool:
    """Return True if the last line above a block ends in a colon."""
    above = next((at for at in range(start - 1, -1, -1) if lines[at].strip()), None)
    return above is not None and _announces(lines[above], forms[above])


def _announces(line: str, what: Form) -> bool:
    return line.rstrip().endswith((":", "：")) and what is not Form.TITLE and not is_of_post(line)


def _kept(lines: Sequence[str], forms: Sequence[Form], *, is_announced: bool) -> list[bool]:
    """Return which lines of a block were printed."""
    known = [at for at, what in enumerate(forms) if what is Form.PRINTED]
    first, last = (known[0], known[-1]) if known else (len(lines), -1)
    if source := _source_lines(lines[:first]):
        return [False] * source + _kept(lines[source:], forms[source:], is_announced=False)
    kept, follows = [], is_announced
    for at, (line, what) in enumerate(zip(lines, forms, strict=True)):
        is_within = first < at < last and what is not Form.SPOKEN
        is_below = follows and what is Form.SENTENCE and not is_paragraph(line)
        kept.append(what not in PROSE or is_within or is_below)
        follows = what is Form.PRINTED or _announces(line, what) or (follows and kept[-1])
    return kept


def _source_lines(lines: Sequence[str]) -> int:
    """Return the number of lines up to the end of a program in Python; 0 if there is none."""
    own = [(at, line) for at, line in enumerate(lines) if line.strip() and not line[0].isspace()]
    statements = [at for at, line in own if _STATEMENT.match(line)]
    if not any(_CERTAINLY_CODE.match(line) for _, line in own) or len(statements) * 2 <= len(own):
        return 0
    end = statements[-1] + 1
    while end < len(lines) and lines[end][:1].isspace():
        end += 1
    return end if end >= _LEAST_CODE else 0


def _restore_quotation(shown: list[str], lines: Sequence[str]) -> None:
    """Put the only sentence back that quotes a message, unless it doubts it; there is none if several do.

    A title may quote the same message. Of an error in quotes, what the sentence says around it is left out.
    """
    quoting = [(at, *each) for at, line in enumerate(lines) if line.isascii() for each in _quoting(line)]
    own = [each for each in quoting if not lines[each[0]].startswith("#")] or quoting
    messages = {message for *_, message in quoting}
    if len(own) == len(messages) == 1 and not any(_UNSURE.search(bare) for _, bare, _, _ in quoting):
        at, _, sentence, message = own[0]
        is_error = message[0] in '"`“' and names_error(message[1:-1])
        shown[at] = message[1:-1] if is_error else sentence


def _quoting(line: str) -> Iterator[tuple[str, str, str]]:
    """Yield each sentence that quotes a message, without its quotation and as it is, and the message."""
    start = 0
    bare = _QUOTATION.sub(_masked, line)
    for sentence in _BETWEEN_SENTENCES.split(bare):
        start = bare.index(sentence, start)
        whole = line[start : start + len(sentence)]
        if _QUOTED in sentence:
            marks = zip(whole, sentence, strict=True)
            yield sentence, whole, "".join(letter for letter, mark in marks if mark == _QUOTED)


def _masked(quotation: re.Match[str]) -> str:
    """Return as many signs as a quotation is long, others for a whole message than for a name."""
    is_message = len(quotation[0].split()) >= _MESSAGE_WORDS
    return (_QUOTED if is_message else "`") * len(quotation[0])
