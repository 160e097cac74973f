"""Detects secrets by the name before them: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`.

Knows environment dumps, JSON (also inside a string), YAML, command lines, query strings, Python reprs and
Kubernetes' pairs of name and value. The value is checked too, because logs mention tokens and passwords all
the time without revealing one.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.redact.randomness import is_opaque, is_random
from analyzer.redact.vendors import SecretSpan

_STRONG = (
    r"pass(?:word|wd|phrase|code|wort)|pwd|pswd?|secret|credentials?|(?:card|user|sim|login)_pin"
    r"|contrase[nñ]a|mot[_ -]de[_ -]passe|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호"
    r"|(?:api|access|secret|private|account|auth|encryption|signing|master|licen[sc]e)[_.-]?key"
)
_WEAK = r"token|(?<![a-z])_?auth"
_SHORT = (
    r"(?<![a-z])(?:pass|pw|mdp)|(?-i:(?<=[a-z])(?:Pass|Pw))|(?<=_)(?:signing|salt|pepper|pat|cookie)|(?<=--)key"
    r"|(?:secret|password)[_-](?:access|id|data|file|content)(?:_(?:id|content|data|value))?"
    r"|(?<![a-z])(?!(?:public|cache|partition|sort|group|instance|primary|foreign|lookup|index|hash|graph|step"
    r"|fingerprint|feature|column|record|row|dict|map)[_-])[a-z]{2,24}[_-]key"
)
"""Regex for ambiguous names: their value is a secret only if it is neither a word nor a number."""
_NAME = (
    rf"(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK})|(?P<short>{_SHORT}))"
    r"(?:[_-]?\d{1,2}|[_-](?:prod|dev|staging|test|base|value|plain|hex|b64|base64|string))?"
)
_TYPE = r"(?:\s?:\s?(?:str|bytes|Optional\[str\])(?:\s?\|\s?None)?(?=\s?=))?"
_BETWEEN = (
    r"(?P<between>\\*[\"']?\s{0,20},?\s{0,40}\\*[\"']?\bvalue\\*[\"']?\s{0,3}[:=]\s{0,3}"  # Kubernetes
    r"|\\*[\"']?\]?\s{0,3}(?:=>|->|:=|=(?!=)|:(?!:)|%3D)[^\S\n]{0,3}"
    r"|\\*[\"']\s{0,3},\s{0,3}(?=[bu]?\\*[\"'])"  # a pair, or an option and its value
    r"|[^\S\n]{1,3}(?:is|was)[^\S\n]{1,3}"  # a sentence
    r"|[^\S\n]{1,3}(?![-=:])"  # an option and its value in a shell
    r"|>)"  # XML
)
_VALUE = (
    r"(?:[bBuUrRfF]{0,2}(?:(?P<escaped>\\+[\"'])(?P<inner>[^\n]{1,4000}?)(?:(?P=escaped)|(?=\n|\Z))"
    r"|(?P<quote>[\"'])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\n]){1,4000}+))"
    r"|(?P<bare>[^\s\"'<>\\][^\s\"'<>]{0,500}+))"
)
_NAMED = re.compile(rf"(?<!un)(?:{_NAME})(?![a-z]){_TYPE}{_BETWEEN}{_VALUE}", re.IGNORECASE)

_BEFORE = re.compile(r"[\w.\-]{0,80}\Z")
_SPECIAL_TOKEN = re.compile(
    r"(?:^|[_.\-])(?:pad|eos|bos|mask|unk|sep|cls|oov|start|end|stop|next|special|last|first|per|each|image|audio"
    r"|prompt|completion|input|output|target|page|cancellation|step|xla|control)[_.\-]*$|[a-rt-z]s_$",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(
    r"\b(?:unexpected|expected|unknown|special|oov|next|last|first|each|per)\s$", re.IGNORECASE
)
_GIVEN = re.compile(r"\b(?:using|used?|with|via)\s(?:[a-z]{1,12}\s){0,2}$", re.IGNORECASE)
_NOTHING = re.compile(
    r"none|null|nil|true|false|yes|no|on|off|str|string|bytes|int|bool|float|any|optional|undefined|unset|empty"
    r"|required|missing|invalid|expired|incorrect|failed|denied|default|unknown|n/?a|not|is|was|are|must|should"
    r"|cannot|could|does|did|has|have|had|the|an?|and|or|for|from|to|in|of|with|without|file|path|error|unable"
    r"|authentication|authorization|access|permission|rejected|revoked|mismatch|accepted|ok|eof|illegal|wrong"
    r"|too|provided|found|set|given|using|got|object|class|type|redacted|masked|hidden|removed",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[*•.x…_?-]+|<[^<>]*>|\[[^\[\]]*\]|\{+[^{}]*\}+|%\(?\w*\)?[sdr]|\$[A-Z_][A-Z0-9_]*|\$\{.*|\$\(.*|\[secret:.*"
    r"|token\[.*",
    re.IGNORECASE | re.DOTALL,
)
_PLACE = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@+\-/\\]*|\w[\w.+-]*://[^\s]*")
_EXPRESSION = re.compile(
    r"[A-Za-z_][\w.]*[(\[].*|(?:self|args|FLAGS|config|cfg|os|env|settings|kwargs|opts|options|params)\..*"
    r"|(?:[a-z_]*_)?(?:password|passwd|secret|token|key|credentials?)",
    re.DOTALL,
)
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)[%a-zA-Z]{0,2}")
_NEXT = re.compile(r"[,;]\s?[\w.\-]+[=:]|&(?=(?:amp;)?[\w.\-%\[\]]+=)|[)\]}]+[,;.:]|\\n|(?<=\w)%26")
_LEAST_OF_A_PAIR = 20
"""Characters of the shorter secrets that clouds issue in pairs with an identifier."""
_REST_OF_LINE = re.compile(r"(?: [^\s\"'<>#=:;,./\-]+){1,11}[^\S\n]*(?=\n|\Z)")


class _Named(NamedTuple):
    """A name that suggests a secret with its value, which begins at `start`.

    `before` is the rest of the name, such as `DB_` of `DB_PASSWORD`; `strength` is that of its regex.
    """

    before: str
    match: re.Match[str]
    start: int
    value: str
    is_bare: bool
    is_option: bool
    is_environment: bool
    strength: str


def find_named(text: str) -> Iterator[SecretSpan]:
    """Yield the values in a text that are secrets, judged by their name and form."""
    at = 0
    while match := _NAMED.search(text, at):
        at = match.end(_strength(match))
        named = _read(text, match)
        if named and _is_assigned(text, named) and _is_secret(named):
            yield SecretSpan(named.start, named.start + len(named.value), _kind(named))
            at = max(at, named.start + len(named.value))


def _strength(match: re.Match[str]) -> str:
    """Return the group of the regex that matched the name: `strong`, `weak` or `short`."""
    return next(group for group in ("strong", "weak", "short") if match[group])


def _kind(named: _Named) -> str:
    if named.strength == "weak":
        return "token"
    word = named.match[named.strength].lower()
    if word.startswith("pass") or word in ("pwd", "pw"):
        return "password"
    return "key" if word.endswith("key") else "secret" if word == "secret" else "credential"


def _read(text: str, match: re.Match[str]) -> _Named | None:
    """Return the name and its value without trailing punctuation or parameters."""
    found = _BEFORE.search(text[max(0, match.start() - 80) : match.start()])
    before = found[0] if found else ""
    group = "inner" if match["escaped"] else "quoted" if match["quote"] else "bare"
    start, value = match.start(group), match[group]
    strength = _strength(match)
    is_environment = (before + match[strength]).isupper()
    is_bare, is_option = group == "bare", before.startswith("--")
    named = _Named(before, match, start, value, is_bare, is_option, is_environment, strength)
    if not named.is_bare:
        return named
    if _is_alone_on_line(text, match, named) and (rest := _REST_OF_LINE.match(text, match.end())):
        return named._replace(value=(value + rest[0]).rstrip())
    if not named.is_environment and (following := _NEXT.search(value)):
        value = value[: following.start()]
    elif "&" in value and "?" in text[max(0, match.start() - 300) : match.start()]:
        value = value.partition("&")[0]
    return named._replace(value=value.rstrip(",;)]}.:\\"))


def _is_alone_on_line(text: str, match: re.Match[str], named: _Named) -> bool:
    """Return True if the line holds only the name and its value, which may then have several words."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" -\t")
    alone = line == named.before or line == f"export {named.before}"
    first = (match["bare"] or "").strip(".,:;")
    said = match["between"].strip()
    binds = said == ":" or (said == "=" and named.is_environment)
    return alone and binds and named.strength == "strong" and not _NOTHING.fullmatch(first)


def _is_assigned(text: str, named: _Named) -> bool:
    """Return True if the text between name and value connects them as in an assignment or option."""
    match, between = named.match, named.match["between"]
    ahead = text[max(0, match.start() - len(named.before) - 4) : match.start() - len(named.before)]
    if between == ">":
        return ahead.endswith("<")
    if between.strip().lower() in ("is", "was"):
        return _is_revealed(named)
    if between.isspace():
        return named.is_option or _is_revealed(named) or _is_setting(named)
    if "," in between and "alue" not in between:
        return named.is_option or bool(re.search(r"\(\s?[bu]?\\*[\"']$", ahead))
    return not (ahead.endswith("/") and ":" in between and not named.match["quote"])


def _is_revealed(named: _Named) -> bool:
    """Return True if a sentence states the value (`with password s3cr3t`), and it is not a plain word."""
    value = named.value
    is_odd = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
    said = (named.match["strong"] or named.match["weak"] or "").lower().startswith(("pass", "token"))
    if not (said and is_odd):
        return False
    if named.strength == "strong":
        return len(value) >= 6
    return len(value) >= (16 if _is_given(named) else 20) and is_opaque(value)


def _is_given(named: _Named) -> bool:
    """Return True for `using token …`, `with token …` and `token is …`, which state what was sent."""
    begin = named.match.start() - len(named.before)
    stated = named.match["between"].strip().lower() in ("is", "was")
    return stated or bool(_GIVEN.search(named.match.string[max(0, begin - 40) : begin]))


def _is_setting(named: _Named) -> bool:
    """Return True for a name and a random value: `config set api_key Zx8…`, `secret` and 20 characters."""
    name = named.before + (named.match["strong"] or "")
    is_pair = name.lower() == "secret" and len(named.value) >= _LEAST_OF_A_PAIR
    return named.strength == "strong" and ("_" in name or is_pair) and is_random(named.value)


def _is_secret(named: _Named) -> bool:
    """Return True unless the value is a plain word, a placeholder, a path or a code expression."""
    value = named.value
    if len(value) < 3 or _NOTHING.fullmatch(value.strip(" .,:;!")) or _PLACEHOLDER.fullmatch(value):
        return False
    if _PLACE.fullmatch(value):
        return False
    if named.is_bare and not named.is_environment and not named.is_option and _EXPRESSION.fullmatch(value):
        return False
    judge = {"strong": _is_clear_secret, "weak": _is_token, "short": _is_unlike_words}
    return judge[named.strength](named)


def _is_clear_secret(named: _Named) -> bool:
    """Return True unless the value is a plain word after a colon, which may begin a sentence."""
    value, between = named.value, named.match["between"]
    if not named.is_bare or "=" in between or between.isspace() or named.is_environment:
        return True
    rest = named.match.string[named.start + len(value) :].partition("\n")[0].strip(" ,;)]}\\\"'")
    return not rest or bool(re.search(r"[\d!@#$%^&*+/=~]", value)) or "alue" in between


def _is_token(named: _Named) -> bool:
    """Return True if a value named `token` is a credential, not a count or a token of a language model."""
    value, match = named.value, named.match
    spoken = _SPOKEN_OF.search(match.string[max(0, match.start() - 16) : match.start()])
    if named.is_environment and is_random(value):
        return True
    if _SPECIAL_TOKEN.search(named.before) or spoken or _NUMBER.fullmatch(value) or len(value) < 6:
        return False
    if re.search(r"\d", value) and re.search(r"[A-Za-z]", value) and not re.search(r"\s", value):
        return True
    is_auth = (match["weak"] or "").lower().endswith("auth")
    expected = named.is_environment or named.is_option or (named.is_bare is False and bool(named.before))
    return (expected and not is_auth) or (len(value) >= 20 and not re.search(r"\s", value))


def _is_unlike_words(named: _Named) -> bool:
    """Return True if a value with an ambiguous name is a password or a random key, not a word or a number."""
    value, name = named.value, named.match["short"].lower()
    if not (re.search(r"\d", value) and re.search(r"[A-Za-z]", value)) or _NUMBER.fullmatch(value):
        return False
    if name not in ("pass", "pw"):
        return is_random(value)
    bound = named.is_option or named.is_environment or not named.is_bare or _begins_line(named)
    return (bound or is_random(value)) and len(value) >= 6 and not re.search(r"[\s/\\]", value)


def _begins_line(named: _Named) -> bool:
    text, begin = named.match.string, named.match.start() - len(named.before)
    return not text[text.rfind("\n", 0, begin) + 1 : begin].strip(" -\t")
