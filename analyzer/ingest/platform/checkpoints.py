"""Checkpoint files of the run → facts `checkpoint`: the file that names the latest, and index files.

Of an index only its first and last bytes are read: a truncated one lacks the magic number at its end.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import report_unread_lines
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind

_ENTRY = lazy_regex(
    r'\s*(?P<key>[a-z_]+)\s*:\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<number>\d+(?:\.\d+)?))\s*$'
)
_MAGIC = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
_HEADER = lazy_regex(rb"\0\0[\x01-\x7f]\x08")
_TEMPORARY_OR_EXPORTED = lazy_regex(r"_temp(?:_[0-9a-f]+)?/|workertemp|tempstate|(?:^|/)variables/variables$")
"""Unfinished checkpoints and exported models; training cannot resume from them."""


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Add the checkpoint from which training would resume, as a fact."""
    if output.source.name.endswith(".index"):
        _read_index(output)
    else:
        _read_latest(output, whole_text(output))


def report_missing(outputs: Sequence[SourceRows], sources: Iterable[Source]) -> None:
    """Mark a checkpoint as missing if its directory has index files, but not that of the checkpoint."""
    names = {source.name for source in sources}
    folders = {PurePosixPath(name).parent for name in names if name.endswith(".index")}
    for output in outputs:
        path = PurePosixPath(output.source.name)
        names_latest = output.source.kind is Kind.CHECKPOINT and path.name == "checkpoint"
        for row in output.rows.get("facts", []) if names_latest and path.parent in folders else ():
            name = PurePosixPath(row["value"]).name
            if str(path.parent / f"{name}.index") not in names:
                output.add_damage(f"names the checkpoint {name}, whose index is not there", line=row["line"])
                row["key"] = "checkpoint_missing"


def _read_latest(output: SourceRows, text: str) -> None:
    unread, latest, time = [], None, None
    for number, line in enumerate(text.split("\n"), 1):
        entry = _ENTRY.match(line)
        if entry and entry["key"] == "model_checkpoint_path" and entry["text"]:
            latest = (number, re.sub(r"\\(.)", r"\1", entry["text"]))
        elif entry and entry["key"] == "all_model_checkpoint_timestamps" and entry["number"]:
            time = float(entry["number"])
        elif not entry and line.strip():
            unread.append(number)
    if latest:
        folder = PurePosixPath(output.source.name).parent
        output.add("facts", line=latest[0], time=time, key="checkpoint", value=str(folder / latest[1]))
    report_unread_lines(output, unread, "no entry of a file that names checkpoints")


def _read_index(output: SourceRows) -> None:
    with output.source.path.open("rb") as file:
        begin = file.read(4)
        output.bytes = file.seek(0, 2)
        file.seek(max(0, output.bytes - len(_MAGIC)))
        end = file.read()
    name = output.source.name.removesuffix(".index")
    if end == _MAGIC:
        if not _TEMPORARY_OR_EXPORTED.search(name):
            output.add("facts", key="checkpoint", value=name)
    elif not begin or _HEADER.match(begin) or not any(begin):
        output.add_damage("the index of a checkpoint that was not written to its end", offset=output.bytes)
    else:
        output.skip("is not the index of a checkpoint")
