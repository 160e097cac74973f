"""Detectors of secrets with a recognizable form, such as the tokens of known vendors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class SecretSpan(NamedTuple):
    """A secret in a text: start, end and kind."""

    start: int
    end: int
    kind: str


class Detector(NamedTuple):
    """One kind of secret; a text without any of its lower-case literals has none.

    The secret is the group `s` of the pattern, or the whole match. The pattern is compiled on first use,
    because most are never needed.
    """

    kind: str
    literals: Sequence[str]
    pattern: str

    def find(self, text: str) -> Iterator[SecretSpan]:
        """Yield the secrets in a text that match the pattern."""
        for match in re.finditer(self.pattern, text):
            yield SecretSpan(*match.span("s" if "s" in match.re.groupindex else 0), self.kind)


def _prefixed(kind: str, *rows: tuple[str, str, int]) -> Iterator[Detector]:
    """Yield a detector for each (prefix, characters, minimum length); truncated texts may have fewer."""
    for prefix, characters, least in rows:
        literal = prefix.replace("\\", "").lower()
        pattern = (
            rf"(?<![A-Za-z0-9]){prefix}(?:[{characters}]{{{least},}}+"
            rf"|(?=[{characters}]*?[0-9])[{characters}]{{6,}}+(?=\s?…|\Z))"
        )
        yield Detector(kind, (literal,), pattern)


def _pattern(kind: str, literals: str, pattern: str) -> Detector:
    return Detector(kind, literals.split(), f"(?i){pattern}")


_WORD, _DASHED = "A-Za-z0-9", r"\w-"
_BASE64 = "A-Za-z0-9+/"
_IN_KEY = rf"{_BASE64}=\\\r\n"
_FILES = "png|jpe?g|gif|svg|log|json|ya?ml|txt|gz|whl|pyc|so|service"
_IS = r"\\*[\"']?\s{0,3}[:=,]\s{0,3}\\*[\"']?"
_EOL = r"[^\n\"'\\]"

DETECTORS: Sequence[Detector] = (
    *_prefixed("github", *((f"gh{c}_", _WORD, 20) for c in "pousr"), ("github_pat_", r"\w", 20)),
    *_prefixed("gitlab", *((f"gl{c}-", _DASHED, 16) for c in ("pat", "dt", "rt", "ptt", "cbt", "oas"))),
    *_prefixed("slack", *((f"xox{c}-", _DASHED, 8) for c in "abeoprs"), ("xapp-", _DASHED, 16)),
    *_prefixed("google", ("AIza", _DASHED, 30), (r"ya29\.", r"\w.-", 10), ("GOCSPX-", _DASHED, 20)),
    *_prefixed("huggingface", ("hf_", _WORD, 20), ("api_org_", _WORD, 30)),
    *_prefixed("npm", ("npm_", _WORD, 30)),
    *_prefixed("pypi", ("pypi-AgE", _DASHED, 10)),
    *_prefixed("stripe", *((f"{a}k_{b}_", _WORD, 10) for a in "sr" for b in ("live", "test"))),
    *_prefixed("stripe", ("whsec_", _WORD, 10)),
    *_prefixed("api-key", ("dapi", "0-9a-f", 32), ("dop_v1_", "0-9a-f", 32), ("dckr_pat_", _DASHED, 20)),
    *_prefixed("api-key", (r"hvs\.", _DASHED, 20), ("gsk_", _WORD, 30), ("r8_", _WORD, 30)),
    *_prefixed("api-key", (r"SG\.", r"\w.-", 40), ("AGE-SECRET-KEY-1", "A-Z0-9", 30)),
    _pattern(
        "api-key", "sk-",
        r"(?<![a-z0-9])sk-(?:(?:proj|ant|or|svcacct|admin|None)-[\w-]{12,}+|[a-z0-9]{20,}+)",
    ),
    _pattern("pypi", "pypi-", r"(?<![a-z0-9])pypi-(?=[\w-]*\d)(?-i:(?=[\w-]*[A-Z]))[\w-]{30,}+"),
    Detector("aws", ("akia", "asia"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Detector(
        "aws", ("akia", "asia"),
        rf"A[KS]IA[A-Z0-9]{{16}}[^\w+/]{{1,20}}(?P<s>[{_BASE64}]{{40}})(?![{_BASE64}=])",
    ),
    Detector(
        "jwt", ("eyj",),
        r"(?<![\w-])eyJ(?:[\w-]{8,4000}+\.[\w-]{4,}+(?:\.[\w-]*+)*+|(?:hbGci|0eXAi|raWQi)[\w-]*+)",
    ),
    _pattern("telegram", ":aa", r"(?<!\d)\d{8,10}:(?-i:AA)[\w-]{30,40}(?![\w-])"),
    _pattern(
        "webhook", "hooks.slack.com/services/ /api/webhooks/",
        r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/(?P<s>[\w/-]{16,}+)",
    ),
    _pattern(
        "authorization", "authorization",
        rf"authorization{_IS}(?:(?:bearer|basic|token|digest|negotiate|apikey|AWS4-HMAC-SHA256)\s{{1,3}})?"
        rf"(?P<s>(?=[^\n]*?\d|[^\s]{{12}}){_EOL}{{6,}}+)",
    ),
    _pattern(
        "authorization", "bearer",
        r"\bbearer\s{1,3}(?P<s>(?=[\w.~+/=-]*\d|[\w.~+/=-]{24})[\w.~+/=-]{8,}+)",
    ),
    _pattern(
        "authorization", "basic",
        r"\bbasic\s(?P<s>(?=[a-z0-9+/]*\d)(?-i:(?=[a-z0-9+/]*[A-Z]))[a-z0-9+/]{12,}+={0,2})",
    ),
    _pattern("cookie", "cookie", rf"\bcookie{_IS}(?P<s>[\w.-]{{1,80}}={_EOL}+)"),
    _pattern(
        "cookie", "sessionid sessid csrf _xsrf connect.sid",
        r"(?:sessionid|sessid|csrf_?token|_xsrf|connect\.sid)=(?P<s>[^\s;&\"',]{6,}+)",
    ),
    _pattern("url-password", "://", r"://[^\s/:@\"'<>]{0,80}:(?P<s>[^\s/\"'<>]{1,256})@"),
    _pattern("url-password", "://", r"://[^\s/:@\"'<>]{1,80}:(?!\d{1,5}[/?#])(?P<s>[^\s\"'<>@,:]{1,256})@"),
    _pattern("url-password", "://", r"://(?P<s>[^\s/:@\"'<>]{20,200})@"),
    _pattern(
        "url-password", "curl",
        r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[\s=]{1,3}[\"']?[^\s:\"']{1,80}:(?P<s>[^\s\"']+)",
    ),
    _pattern("password", "sshpass", r"\bsshpass\s{1,3}-p\s{0,3}[\"']?(?P<s>[^\s\"']+)"),
    _pattern("password", "password", r"\blogin\s{1,3}\S{1,80}\s{1,9}password\s{1,3}(?P<s>\S+)"),
    _pattern("api-key", "wandb", r"\bwandb\s{1,3}login\s{1,3}(?:--\w+\s{1,3}){0,3}(?P<s>[\w-]{20,}+)"),
    _pattern("api-key", "login(", r"\blogin\([^\n()]{0,80}?\bkey\s?=\s?[\"'](?P<s>[^\"'\n]{8,})"),
    _pattern(
        "signature", "x-amz- x-goog- x-ms-",
        r"x-(?:amz|goog|ms)-(?:signature|credential|security-token)(?:=|%3d)(?P<s>[^\s&\"'<>\\]{4,}+)",
    ),
    _pattern(
        "signature", "sig= signature= accesskeyid= sharedaccesskey= accountkey=",
        r"(?:(?<![a-z0-9])sig|[?&;]signature|[?&;]\w{0,9}accesskeyid|sharedaccesskey|accountkey)="
        r"(?P<s>(?=[^\s&\"'<>;]{16}|[^\s&\"'<>;]*\d)[^\s&\"'<>;\\]{6,}+)",
    ),
    _pattern(
        "signature", "sharedaccesssignature",
        r"sharedaccesssignature[ =:]{1,3}(?P<s>s[a-z]{1,2}=[^\s\"'<>]+)",
    ),
    _pattern(
        "email", "@ %40",
        r"(?<![\w.%+/@-])(?!git@)[a-z0-9_](?:[\w.+-]{0,63})(?:@|%40)"
        r"(?=[a-z0-9.-]{0,60}?[a-z][a-z0-9-]{0,60}\.)(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,8}"
        rf"(?!(?:{_FILES})\b)[a-z]{{2,24}}(?![\w@-])",
    ),
)  # fmt: skip

_KEY_START = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_HEAD = r"(?:\s|\\[nr]|(?:Proc-Type|DEK-Info|Comment|Version):[^\n]*)*+"
_KEY_LINE = rf"[^\n]{{0,80}}?(?<![{_BASE64}])[{_BASE64}]{{40,}}+[^\n]{{0,400}}(?:\n|\Z)"
_KEY_REST = rf"(?:[{_BASE64}\\]{{4,}}+={{0,2}}(?=\s*…|\s*\Z))?"
_KEY_FULL_LINE = rf"(?:[{_BASE64}]{{64}}|[{_BASE64}]{{76}})"
_MIXED = "".join(rf"(?=[^\n]{{0,63}}[{each}])" for each in ("0-9", "a-z", "A-Z"))

PRIVATE_KEYS: Sequence[Detector] = (
    Detector(
        "private-key", ("private key",),
        rf"(?s){_KEY_START}(?:(?:(?!-----BEGIN).){{0,12000}}?{_KEY_END}"
        rf"|{_KEY_HEAD}(?:{_KEY_LINE})*{_KEY_REST})",
    ),
    Detector("private-key", ("private key",), rf"(?<![{_IN_KEY}])[{_IN_KEY}]{{8,}}+{_KEY_END}"),
    Detector(
        "private-key", ("",),
        rf"(?m)^{_MIXED}{_KEY_FULL_LINE}(?:\r?\n[{_BASE64}]{{64}})*+"
        rf"(?:\r?\n[{_BASE64}]{{1,63}}={{0,2}}(?=\r?\n-----END|\r?\n?\Z))?(?![^\n])",
    ),
)  # fmt: skip
"""Private keys in PEM format: whole, truncated at either end, or some of their lines."""
