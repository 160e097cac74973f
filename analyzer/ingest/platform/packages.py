"""Lists of installed packages → facts `package:NAME`: `pip freeze`, `pip list`, `conda list`, exports.

For a package installed from a URL only the version or commit is kept: the URL may contain a password.
"""

import re
from functools import partial

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import LineFinder, parsed_json, read_lines

KEY = "package:"
"""Prefix of the fact's key, followed by the package's name."""

_NAME = r"(?P<name>[A-Za-z0-9_][\w.-]{0,100})"
_LISTED = re.compile(
    rf"(?:- )?[\"']?{_NAME}(?:\[[\w,. -]*\])?(?:\s*={{1,3}}\s*|\s+)v?(?P<version>\d[^\s=;,\"']{{0,80}})"
)
_DIRECT_URL = re.compile(rf"(?:- )?{_NAME}(?:\[[\w,. -]*\])?\s+@\s+(?P<url>\S+)")
_EDITABLE = re.compile(rf"-e\s+(?P<url>\S+?)(?:[#&]egg={_NAME}\S*|\s*)$")
_EXPLICIT = re.compile(
    rf"https?://\S*/{_NAME}-(?P<version>\d[^-\s/]*)-[^-\s/]+?(?:\.conda|\.tar\.bz2)(?:#\w+)?$"
)
_MAX_LINE_CHARS = 2_000
"""Longer lines name no package."""
_WHEEL = re.compile(
    r".*/[A-Za-z0-9][\w.]*-(?P<version>\d[\w.!+]*?)(?:-[\w.-]+\.whl|\.tar\.gz|\.zip)(?:#.*)?$"
)
_COMMIT = re.compile(r".*@(?P<commit>[0-9a-f]{7,40})(?:#.*)?$")
_IGNORED = re.compile(
    r"(?:#|@EXPLICIT|[-\s]+$|Package\s+Version\b|(?:WARNING|DEPRECATION|Warning)\b|\[notice\]|\(.*\)$"
    r"|(?:- )?(?:name|channels|dependencies|prefix|pip|variables):|- [\w./-]+$"
    r"|Using Python |You (?:are using pip|should consider))"
)
"""Headers, comments, hints to update pip, and non-package parts of an exported environment."""


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Read the version of each package."""
    text = whole_text(output)
    if text.lstrip().startswith("["):
        _read_json(output, text)
    else:
        read_lines(output, text, partial(_read_line, output), "no package with a version")


def _read_line(output: SourceRows, number: int, line: str) -> bool:
    entry = line.strip()
    if _IGNORED.match(entry):
        return True
    package = _package(entry) if len(entry) <= _MAX_LINE_CHARS else None
    if package:
        add_version(output, number, *package)
    return package is not None


def add_version(output: SourceRows, line: int | None, name: str, version: str) -> None:
    """Add the fact that a package is installed."""
    output.add("facts", line=line, key=KEY + re.sub(r"[-_.]+", "-", name).lower(), value=version)


def _package(line: str) -> tuple[str, str] | None:
    """Return the name and version of the package that a line lists; None if it lists none."""
    if found := _EXPLICIT.match(line) or _LISTED.match(line):
        return found["name"], found["version"]
    if found := _DIRECT_URL.match(line):
        return found["name"], _version_in_url(found["url"])
    if found := _EDITABLE.match(line):
        name = found["name"] or re.split(r"[/\\]", found["url"].rstrip("/\\"))[-1]
        named = re.match(_NAME, name)
        return (named["name"], _version_in_url(found["url"])) if named else None
    return None


def _version_in_url(url: str) -> str:
    """Return the version in a wheel's file name or the commit, else a note that it has neither."""
    if wheel := _WHEEL.match(url):
        return wheel["version"]
    commit = _COMMIT.match(url)
    return f"commit {commit['commit']}" if commit else "from a place of its own"


def _read_json(output: SourceRows, text: str) -> None:
    if (entries := parsed_json(output, text, "pip or conda")) is None:
        return
    finder, invalid = LineFinder(text), 0
    for entry in entries:
        name, version = (entry.get("name"), entry.get("version")) if isinstance(entry, dict) else (None, None)
        if isinstance(name, str) and isinstance(version, str) and re.fullmatch(_NAME, name):
            add_version(output, finder.line(f'"{re.escape(name)}"'), name, version[:100])
        else:
            invalid += 1
    if invalid:
        output.add_damage(f"{invalid} entries that are no package with a version")
