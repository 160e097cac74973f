"""Finds the secrets of one document and gives each a token that replaces it."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.placeholders import SECRET
from analyzer.redact.plain_text import PlainText, pieces, plain
from analyzer.redact.randomness import is_random
from analyzer.redact.vendors import DETECTORS, SecretSpan
from analyzer.redact.walk import Replacement, any_of

_UNMISTAKABLE = lazy_regex(r"(?=.*[A-Za-z])(?=.*\d).{8,}|.{20,}", re.DOTALL)
"""Regex for values that cannot be ordinary words: known as a secret, they are masked wherever they occur."""
_MAX_KNOWN = 400
"""Maximum number of secrets that are masked wherever they occur."""
_REST = lazy_regex(
    r"\s{1,12}(?P<word>(?=[^\sA-Z]{0,80}[A-Z])(?=[^\sa-z]{0,80}[a-z])(?=[^\s\d]{0,80}\d)[\w+/=.~-]{10,400})"
)
_MIN_CUT_CHARS = 12
"""Number of leading characters that identify a known secret at the end of a shortened text."""
_KEYS = tuple(
    f"{of}key" for of in ("_", "-", "api", "access", "private", "account", "signing", "master", "secret.")
)
_SHORT = (
    "pass=",
    "pass:",
    "pass'",
    'pass"',
    "pass =",
    "pw=",
    "pw:",
    "mdp=",
    "mdp:",
    "pw'",
    'pw"',
    "pw =",
    "-pass",
    "-pw",
)
_FOREIGN = (
    "contrase",
    "mot de passe",
    "mot_de_passe",
    "mot-de-passe",
    "senha",
    "wachtwoord",
    "hasło",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
)
_NAMES = (
    *_SHORT, *_FOREIGN, "passw", "passp", "passc", "pwd", "psw", "_pass", "_pw", "_pin", "_signing", "_salt",
    "_pepper", "_pat", "_cookie", "secret", "credential", "token", "auth", "onkey", *_KEYS,
)  # fmt: skip
"""Literals; `named_secrets` runs only on texts that contain one of them."""


def _find_named(text: str) -> Iterator[SecretSpan]:
    from analyzer.redact.named_secrets import find_named

    return find_named(text)


_Find = Callable[[str], Iterator[SecretSpan]]
_FINDERS: Sequence[tuple[Sequence[str], _Find]] = (
    *((each.literals, each.find) for each in DETECTORS),
    (_NAMES, _find_named),
)


class Secrets:
    """The secrets found in some texts; equal secrets are replaced by equal tokens.

    A token is a hash whose key, unless one is given, is a digest of all texts: who lacks the texts can
    neither test guessed passwords nor see whether two reports mask the same one. Kinds in `shown` are kept.
    """

    def __init__(self, texts: Iterable[str], key: bytes = b"", shown: Collection[str] = ()) -> None:
        kept = list(dict.fromkeys(texts))
        self._spans = _spans_by_text(kept, shown)
        self._kinds: dict[str, str] = {}
        for text, spans in self._spans.items():
            for each in spans:
                self._kinds.setdefault(text[each.start : each.end], each.kind)
        self._key = key or (_key(kept) if self._kinds else b"")
        self._known = _masked_everywhere(self._kinds)
        self._again = re.compile(any_of(self._known) or "(?!)")

    @property
    def masked(self) -> int:
        """Number of different secrets."""
        return len(self._kinds)

    def replacements(self, text: str) -> Sequence[Replacement]:
        """Return the replacements that mask the secrets of a text."""
        own = self._spans.get(text, ())
        again = (SecretSpan(*match.span(), self._known[match[0]]) for match in self._again.finditer(text))
        return [
            Replacement(each.start, each.end, self._token(text[each.start : each.end], each.kind))
            for each in _merged([*own, *again, *self._cut_off(text)])
        ]

    def _cut_off(self, text: str) -> Iterator[SecretSpan]:
        """Yield the end of a text that was cut within a known secret: the part of the secret that is left."""
        for value in self._known:
            at = text.rfind(value[:_MIN_CUT_CHARS])
            if at >= 0 and len(value) > _MIN_CUT_CHARS and value.startswith(text[at:].rstrip("… ")):
                yield SecretSpan(at, len(text), self._known[value])

    def _token(self, value: str, kind: str) -> str:
        mark = hashlib.blake2b(_bytes(value), key=self._key, digest_size=2).hexdigest()
        return f"[secret:{self._kinds.get(value, kind)}:{mark}]"


def _masked_everywhere(kinds: Mapping[str, str]) -> dict[str, str]:
    """Return secret → kind for the secrets, and parts of secrets, that are masked wherever they occur."""
    known: dict[str, str] = {}
    for value, kind in kinds.items():
        for form in (value, " ".join(value.split()), *value.split(), *pieces(value)):
            if len(known) < _MAX_KNOWN and _UNMISTAKABLE.fullmatch(form):
                known.setdefault(form, kind)
    return known


def _spans_by_text(texts: Sequence[str], shown: Collection[str] = ()) -> dict[str, list[SecretSpan]]:
    """Return text → its secrets but for the kinds `shown`, for the texts that have any, escaped or not."""
    plain_texts = {text: each for text in texts if (each := plain(text))}
    asked = _finders_by_text([*texts, *(each.text for each in plain_texts.values())])
    found: dict[str, list[SecretSpan]] = {}
    for text in (each for each in texts if each in asked or each in plain_texts):
        hidden = _hidden_spans(plain_texts[text], asked) if text in plain_texts else ()
        spans = [each for each in (*_spans(text, asked), *hidden) if each.kind not in shown]
        if merged := _merged(_not_masked(text, [*_without_urls_as_emails(spans)])):
            found[text] = merged
    return found


def _finders_by_text(texts: Iterable[str]) -> dict[str, list[_Find]]:
    """Return text → the finders to run on it: those of which it contains a literal, in order."""
    lowered = {text: text.lower() for text in texts}
    whole = "\n".join(lowered.values())
    words = " ".join(set(whole.split()))
    asked: dict[str, list[_Find]] = {}
    for literals, find in _FINDERS:
        occurring = [each for each in literals if each in (whole if " " in each else words)]
        for text in {text for each in occurring for text, lower in lowered.items() if each in lower}:
            asked.setdefault(text, []).append(find)
    return asked


def _spans(text: str, asked: Mapping[str, Iterable[_Find]]) -> Iterator[SecretSpan]:
    for find in asked.get(text, ()):
        yield from (_continued(text, each) for each in find(text))


def _continued(text: str, span: SecretSpan) -> SecretSpan:
    """Return the span, extended by the next word if a line break seems to divide the secret."""
    rest = _REST.match(text, span.end)
    return span._replace(end=rest.end()) if rest and is_random(rest["word"]) else span


def _without_urls_as_emails(spans: Sequence[SecretSpan]) -> Iterator[SecretSpan]:
    """Yield the spans except e-mail addresses that are the password and the host of a URL."""
    passwords = [each for each in spans if each.kind == "url-password"]
    for each in spans:
        in_url = each.kind == "email" and any(p.start <= each.start < p.end for p in passwords)
        if not in_url:
            yield each


def _hidden_spans(shown: PlainText, asked: Mapping[str, Iterable[_Find]]) -> Iterator[SecretSpan]:
    for each in _spans(shown.text, asked):
        yield SecretSpan(*shown.original(each.start, each.end), each.kind)


def _not_masked(text: str, spans: Iterable[SecretSpan]) -> Iterator[SecretSpan]:
    """Yield the spans that overlap no token of an earlier redaction."""
    tokens = [match.span() for match in SECRET.finditer(text)] if "[secret:" in text else []
    for each in spans:
        if not any(start < each.end and each.start < end for start, end in tokens):
            yield each


def _merged(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Return the spans in order; overlapping ones become one, of the kind of the first."""
    made: list[SecretSpan] = []
    for each in sorted(spans, key=lambda s: (s.start, -s.end)):
        if not made or each.start >= made[-1].end:
            made.append(each)
        elif each.end > made[-1].end:
            made[-1] = SecretSpan(made[-1].start, each.end, made[-1].kind)
    return made


def _key(texts: Iterable[str]) -> bytes:
    whole = hashlib.blake2b(digest_size=32)
    for text in texts:
        whole.update(_bytes(text) + b"\0")
    return whole.digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
