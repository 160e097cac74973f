"""What a line of a post is, by its form: printed by a program, or written by a person."""

from collections.abc import Iterable
from enum import Enum, auto

from analyzer.ingest.logs.collectors.headings import stream_below, task_below
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.tracebacks.lines import chains, names_error, starts_traceback


class Form(Enum):
    """What a line is; `SENTENCE` is mostly words, which programs print as well."""

    BLANK = auto()
    PRINTED = auto()
    SPOKEN = auto()
    SENTENCE = auto()
    TITLE = auto()
    OTHER = auto()


PROSE = frozenset({Form.SPOKEN, Form.SENTENCE, Form.TITLE})
"""Forms of what people write."""
SENTENCE_WORDS = 5
"""Minimum number of words of a sentence where nothing else tells it from what programs print."""
FEW_WORDS = 2
"""Minimum number of words of a title, or of prose around blocks of code."""
_SPOKEN_WORDS = 3
_SPEECH_WORDS = 7
"""Minimum number of words of a spoken line that is too long for what a program says of itself."""
_UNSPACED_LETTERS = 6
_FOREIGN_WORDS = 3

_WORD = lazy_regex(r"[\"'“„«¿¡(*_`\[]*[^\W\d_]+(?:['’/-][^\W\d_]+)*[\"'”“»)*_`\].,;:!?…]*$")
_UNSPACED = lazy_regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]")
"""Regex for a letter of scripts without spaces between words."""
_UNSPACED_CLAUSE = lazy_regex(r"[，。？！；、]")
"""Regex for the punctuation of clauses in such scripts."""
_CLOCK = r"[\[(]?(?:\d[\d/.-]+,? )?\d{1,2}:\d\d(?: ?[AaPp][Mm])?[\])]?"
"""Regex for the time of a chat's message, which has no seconds, unlike that of a log's line."""
_NAME = r"@?[A-Z][\w.-]{0,20}(?: [A-Z][\w.-]{0,20})?"
_SPEAKER = lazy_regex(
    rf"(?:{_CLOCK}(?: -)? +(?:<@?[\w .-]{{1,30}}>|{_NAME}:)|<@?[\w.-]{{1,30}}>|@[\w.-]+:?) (?=\S)"
)
_OF_POST = lazy_regex(
    rf"\W?{_NAME}\W? +(?:[—-] )?(?:\w+ at )?{_CLOCK}$"
    r"|(?:From|To|Cc|Subject|Sent|Von|An|Betreff|De|À|Objet|Para|Asunto): \S"
    r"|.{1,100} (?:wrote|writes|said|says|commented|replied)(?: on .{1,40}| .{1,20} ago)?:$"
    r"|</?(?:p|div|li|ul|ol|h[1-6]|blockquote|hr|a)\b[^<>]*>|\[/?(?:quote|b|i|u|url|list|spoiler)\b[^\]]*\]"
)
"""Regex for lines that only a chat, a mail or a page has around what people say."""
_ITEM = lazy_regex(r"\s{0,3}(?:[-*•+](?: \[[ xX]\])?|\d{1,2}[.)]|#{1,6}) +(?=\S)|\*\*(?=\S)|\[(?=[^\]]*\]\()")
_EMPHASIZED = lazy_regex(r"(?:[\w.-]+ ){0,5}[\w.-]+: ?(?:\*\*|__)(?P<text>[^*\s][^*]{20,})(?:\*\*|__)?$")
_LINK = lazy_regex(r"https?://\S+/\S*\d|\]\(https?://|#\d{2,}\b")
_OF_PROGRAM = lazy_regex(
    r"\[(?!\d{1,2}:\d\d\])[^\]]{1,60}\](?!\()|\((?:\w+ )?pid=|\(\d+\) [A-Z]|[\w.-]+:\d+:\d+ \["
    r"|[$%] |\S+@\S+[$#] |[{(]?['\"]\w+['\"]: |\w+ \d\d? \d\d:\d\d:\d\d "
    r"|(?:\d{2,4}[-/.]\d{1,2}[-/.]\d{2,4}[ T])?\d{1,2}:\d\d:\d\d\W"
    r"|Sender: LSF System <|TERM_[A-Z]{4,}: |\d{3} \(\d+\.\d{3}\.\d{3}\) |Error from [\w.-]+@[\w.-]+: "
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)[]:\s]|\W*[-=*_]{8,}\W*$"
    r"|[^:：]{1,60}[:：] ?(?:[行列줄] ?\d{1,6}|第 ?\d{1,6} ?[行列]|\d{1,6} ?[행行])[:：] {0,3}\d{2,8} "
    r"|[│╭╰]|Error: (?:No such |Missing |Invalid value for |Got unexpected )"
    r"|Cannot find primary config '|Subject: Slurm Job_id="
    r"|[^(（]{1,12}[(（](?:核心已转储|核心已傾印|コアダンプ|코어 덤프됨)[)）]"
)
"""Regex for the beginning of a line that a program, a prompt or a shell writes, and for a ruled line."""
_OF_LAUNCHER = lazy_regex(
    r"(?:(?:mpi|orte|prte)(?:run|exec)|prun|hydra)(?:\.\w+)? (?:noticed|detected) that "
    r"|MPI_ABORT was invoked on rank \d|(?:ORTE|PRTE) (?:was unable to|has lost communication) "
    r"|Primary job {2}terminated normally|There are not enough slots available in the system"
    r"|Process \d+ exit with status code \d|Process \S+ terminated with exit code -\d"
    r"|Worker exited prematurely: signal \d|Container killed (?:by YARN|on request)\b"
    r"|The actor is dead because its (?:node|worker process) has died"
    r"|(?:Memory cgroup o|O)ut of memory: Kill(?:ed)? process \d"
)
"""Regex for the beginning of a sentence in which a launcher, scheduler or kernel says how a process ended."""
_COLLECTED = lazy_regex(
    r"\w[\w.-]{0,60} {0,20}[>|] ?| {0,4}\d{1,5}:(?: |$)"
    r"|[a-z][a-z0-9-]{0,60}-[a-z0-9]{0,20}\d[a-z0-9]{0,20} [a-z][a-z0-9-]{0,60} |@[0-9a-f]{24} "
)
"""Regex for the label of a collector: `worker-1> `, `node2 | `, `3: `, stern's pod and container, a time."""
_NAMED_PROGRAM = lazy_regex(r"[a-z][\w./-]*(?:\[\d+\])?: (?=\S)")
_LABELLED = lazy_regex(r"\s*[\w.]+: ")
_OF_RUNTIME = lazy_regex(
    r"/(?:job|replica|task|device):\w|\[\[|\{\{node|\[Op:|\.(?:cc|cu|h|py):\d|\b0x[0-9a-f]{6}|\w=\w|\w::\w"
)
"""Regex for names and addresses that only programs write out."""
_QUOTED = lazy_regex(r"\"[^\"]{12,}\"|`[^`]{12,}`|“[^”]{12,}”")
"""Regex for a message that a sentence quotes."""
_COLUMNS = lazy_regex(r"\S(?:\t| {2})\s*\S.*\S(?:\t| {2})\s*\S")
_PERSON = lazy_regex(
    r"(?<![\w'`/.-])(?:I(?= [a-z']+(?:[ ,.;:!?)]|$))|I['’](?:m|ve|d|ll)\b"
    r"|(?i:i['’]m|my|me|mine|(?:some|any)(?:one|body))(?![\w'/.=-]))"
)
_QUESTION = lazy_regex(r"[^\W\d][)\"'`”*]*\s?\?+(?:\s|$)|[？¿]")
_SENTENCES = lazy_regex(r"[\w)\"'`”*][.!?][\"')*_]*\s+(?:[^\W\d_]|[\"'`(*@])\S*\s+\S+")
_FOREIGN = tuple(
    frozenset(words.split())
    for words in (
        "ich wir mein nicht und aber ist ein eine der die das mit auf zu es war hat dem den jemand kein",
        "je nous mon ma ne pas et mais est un une le la les des avec dans que il j'ai pour du sur à merci",
        "yo mi el la los las un una y pero es no de que con por para en se ya al lo está estoy gracias",
        "eu meu minha o os um uma e mas não de que com por para em se já do da no na está estou",
        "io mio il lo gli un una e ma non di che con per in si è sono ho della",
        "ik wij mijn niet en maar is een de het met op te dat van heb geen",
        "ja mój nie i ale jest na z do że się w to mam czy",
        "я мы мой не и но в на с что это как у меня он при",
    )
)
"""Most frequent words of languages in which programs hardly print; three of them in a line are a sentence."""


def form(line: str, least: int) -> Form:
    """Return what a line outside of code blocks is: printed by a program, said by a person, or neither.

    A line that nothing else identifies is a sentence if it has at least `least` words.
    """
    text = line.strip()
    if not text:
        return Form.BLANK
    if "\r" in line.rstrip():
        return Form.PRINTED  # a line that was redrawn; a bar is mostly redrawn from its beginning
    item, speaker = _ITEM.match(line), _SPEAKER.match(text)
    said = text[speaker.end() :] if speaker else line[item.end() :].strip() if item else text
    if is_of_post(text):
        return Form.OTHER if stream_below(line) else Form.SPOKEN
    if is_of_logger(text) or is_of_logger(said) or _is_progress_without_spaces(text):
        return Form.PRINTED
    if names_error(_emphasized(said)) or _OF_LAUNCHER.match(said):
        return Form.SPOKEN if is_spoken(said) else Form.PRINTED
    if is_spoken(said) or (speaker and has_words(said, FEW_WORDS)):
        return Form.OTHER if _announces_log(line) else Form.SPOKEN
    if stream_below(line) is not None or _announces_log(line):
        return Form.OTHER
    if item and (_LINK.search(said) or has_words(said, FEW_WORDS)):
        return Form.TITLE
    if is_progress(text) or _is_of_program(text):
        return Form.PRINTED
    return Form.SENTENCE if has_words(said, least) else Form.OTHER


def _announces_log(line: str) -> bool:
    """Return True for a sentence above the log of one task: `Here is the log of worker 1:`."""
    return line.rstrip().endswith(":") and task_below(line) != ""


def _is_progress_without_spaces(text: str) -> bool:
    """Return True for progress in a script without spaces between words, unless it has clauses."""
    return bool(_UNSPACED.search(text)) and not _UNSPACED_CLAUSE.search(text) and is_progress(text)


def _emphasized(text: str) -> str:
    """Return what a label of few words announces in bold print to the end of a line; else nothing."""
    found = _EMPHASIZED.match(text)
    return found["text"] if found else ""


def all_collected(lines: Iterable[str]) -> bool:
    """Return True if each line that is not blank begins with a collector's label."""
    return all(_COLLECTED.match(line) for line in lines if line.strip())


def is_of_post(line: str) -> bool:
    """Return True for a line that only a chat, a mail or a page has around what people say."""
    return _OF_POST.match(line.strip()) is not None


def is_of_logger(text: str) -> bool:
    """Return True for a line of a logger, a traceback or a launcher, whatever it says."""
    if names_error(text) or starts_traceback(text) or chains(text) or _OF_PROGRAM.match(text):
        return True
    found = head(text)
    return found is not None and (found.kind != "plain" or found.level is not None or found.time is not None)


def _is_of_program(text: str) -> bool:
    """Return True for a line with the marks of a program, outside of what a sentence quotes."""
    own = _QUOTED.sub("", text)
    text = own if own != text and has_words(own, _SPEECH_WORDS, share=0.8) else text
    regexes = (_NAMED_PROGRAM.match, _OF_RUNTIME.search, _COLUMNS.search)
    return any(find(text) is not None for find in regexes)


def is_spoken(text: str) -> bool:
    """Return True if a person speaks: in the first person, asking, or in a language other than English."""
    if len(_UNSPACED.findall(text)) >= _UNSPACED_LETTERS:
        return True
    if _QUESTION.search(text) and has_words(text, FEW_WORDS, share=0.5):
        return True
    if not has_words(text, _SPOKEN_WORDS) or _COLUMNS.search(text):
        return False
    words = {word.strip(".,;:!?¿¡()\"'").lower() for word in text.split()}
    return _PERSON.search(text) is not None or any(len(words & of) >= _FOREIGN_WORDS for of in _FOREIGN)


def is_speech(text: str) -> bool:
    """Return True if a spoken line is too long, or asks too much, for what a program says of itself."""
    return (
        has_words(text, _SPEECH_WORDS)
        or _QUESTION.search(text) is not None
        or len(_UNSPACED.findall(text)) >= _UNSPACED_LETTERS
    )


def is_paragraph(text: str) -> bool:
    """Return True for several sentences of plain words; a name and a colon in front mark an error."""
    return (
        _SENTENCES.search(text) is not None
        and has_words(text, SENTENCE_WORDS, share=0.8)
        and _LABELLED.match(text) is None
    )


def has_words(text: str, least: int, share: float = 0.6) -> bool:
    """Return True if a text has at least `least` words, which are at least `share` of its tokens."""
    words = text.split()
    count = sum(_WORD.match(word) is not None for word in words)
    return count >= least and count >= share * len(words)
