"""Lists of installed packages → facts `package:NAME`: `pip freeze`, `pip list`, `conda list`, exports.

For a package installed from a URL only the version or commit is kept: the URL may contain a password.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import report_unread_lines
from analyzer.model.run import Source

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


class Package(NamedTuple):
    """A package and the line that names it, None if it cannot be located."""

    line: int | None
    name: str
    version: str


def read(source: Source, _matcher: Matcher) -> SourceRows:
    """Read the version of each package.

    Raises:
        OSError: the file cannot be read.

    """
    output = SourceRows(source)
    text = whole_text(output)
    found = _from_json(output, text) if text.lstrip().startswith("[") else _from_lines(output, text)
    for package in found:
        key = KEY + re.sub(r"[-_.]+", "-", package.name).lower()
        output.add("facts", line=package.line, key=key, value=package.version)
    return output


def _from_lines(output: SourceRows, text: str) -> Iterator[Package]:
    unread = []
    for number, line in enumerate(text.split("\n"), 1):
        entry = line.strip()
        if not entry or _IGNORED.match(entry):
            continue
        if len(entry) <= _MAX_LINE_CHARS and (package := _package(number, entry)):
            yield package
        else:
            unread.append(number)
    report_unread_lines(output, unread, "no package with a version")


def _package(number: int, line: str) -> Package | None:
    if found := _EXPLICIT.match(line) or _LISTED.match(line):
        return Package(number, found["name"], found["version"])
    if found := _DIRECT_URL.match(line):
        return Package(number, found["name"], _version_in_url(found["url"]))
    if found := _EDITABLE.match(line):
        name = found["name"] or re.split(r"[/\\]", found["url"].rstrip("/\\"))[-1]
        named = re.match(_NAME, name)
        return Package(number, named["name"], _version_in_url(found["url"])) if named else None
    return None


def _version_in_url(url: str) -> str:
    """Return the version in a wheel's file name or the commit, else a note that it has neither."""
    if wheel := _WHEEL.match(url):
        return wheel["version"]
    commit = _COMMIT.match(url)
    return f"commit {commit['commit']}" if commit else "from a place of its own"


def _from_json(output: SourceRows, text: str) -> Iterator[Package]:
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        output.add_damage(
            f"is no JSON as pip or conda writes it: {error}"[:200], line=getattr(error, "lineno", None)
        )
        return
    at, line, invalid = 0, 1, 0
    for entry in entries:
        name, version = (entry.get("name"), entry.get("version")) if isinstance(entry, dict) else (None, None)
        if isinstance(name, str) and isinstance(version, str) and re.fullmatch(_NAME, name):
            found = text.find(f'"{name}"', at)
            if found >= 0:
                line, at = line + text.count("\n", at, found), found
            yield Package(line if found >= 0 else None, name, version[:100])
        else:
            invalid += 1
    if invalid:
        output.add_damage(f"{invalid} entries that are no package with a version")
