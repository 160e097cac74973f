"""Notes of `mwms-collect` → facts `collected_from`, `folder_host` and `not_collected`.

`collected_from.txt` names the platform and, with a tab between them, each directory and its host.
`not_collected.txt` lists logs that could not be stored, a line each: name, tab, error message.
"""

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import report_unread_lines

_MAX_NAMED = 3


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Add the fact of the file: `ssh`, or `gpu22:/logs and 2 more (ssh: no route to host)`."""
    lines = whole_text(output).splitlines()
    if output.source.name.endswith("collected_from.txt"):
        for number, line in enumerate(lines, 1):
            key = "folder_host" if "\t" in line else "collected_from"
            output.add("facts", line=number, key=key, value=line)
        return
    parts = [line.partition("\t") for line in lines]
    lost = [(name, error) for name, tab, error in parts if tab]
    unread = [number for number, (name, tab, _) in enumerate(parts, 1) if name and not tab]
    report_unread_lines(output, unread, "no name and error message with a tab between them")
    if lost:
        names = ", ".join(name for name, _ in lost[:_MAX_NAMED])
        more = f" and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
        output.add("facts", key="not_collected", value=f"{names}{more} ({lost[0][1]})")
