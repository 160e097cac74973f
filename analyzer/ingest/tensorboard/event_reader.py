"""TensorBoard event files → scalars."""

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import PurePosixPath

from analyzer.ingest.logs.metrics import scope_of
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.tensorboard.event_files import read_scalars
from analyzer.model.schema import VALIDATION
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of
from analyzer.storage.decompress import decompressed_file


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Read the scalars of one event file; damage is recorded, and the scalars that could be read are kept."""
    source = output.source
    output.bytes = source.path.stat().st_size
    prefix = _tag_prefix(source.name)
    with decompressed_file(source.path) as (path, broken):
        found = read_scalars(path)
    if broken:
        output.add_damage(broken)
    for time in _time_range(found.times):
        output.observe_time(time)
    tags = {tag: prefix + tag for tag in set(found.tags)}
    scopes = {tag: "global" if tag.startswith("epoch_") else scope_of(tag) for tag in tags}
    output.columns["scalars"] = {
        "tag": [tags[tag] for tag in found.tags],
        "step": found.steps,
        "time": found.times,
        "value": found.values,
        "scope": [scopes[tag] for tag in found.tags],
        "origin": ["event_file"] * len(found.tags),
    }
    for damage in found.damage:
        output.add_damage(damage.what, offset=damage.offset, length=damage.length)


def _time_range(times: Sequence[float]) -> Iterator[float]:
    """Yield the first and the last finite time."""
    if finite := [time for time in times if isfinite(time)]:
        yield from (min(finite), max(finite))


def _tag_prefix(name: str) -> str:
    """Return the prefix that keeps train/ and validation/ tags apart; Keras uses the same tags in both."""
    folders = (part.lower() for part in reversed(PurePosixPath(name).parent.parts))
    innermost = next((part for part in folders if worker_of(part, Kind.EVENT_FILE) is None), "")
    return f"{innermost}/" if re.match(VALIDATION, f"{innermost}/") else ""
