"""TensorBoard event files → scalars."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from analyzer.ingest.logs.progress.metrics import scope_of
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, is_time
from analyzer.ingest.tensorboard.event_files import read_scalars
from analyzer.ingest.tensorboard.thinning import MAX_SCALARS, MIN_SCALARS, kept_rows, max_tags
from analyzer.model.schema import VALIDATION
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of
from analyzer.storage.decompress import decompressed_file

_THINNED = (
    "read in full and thinned: of each tag, values at even distances, the least and the largest between "
    "them, and those that are not finite"
)


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Read the scalars of one event file; damage is recorded, and the scalars that could be read are kept."""
    source = output.source
    output.bytes = source.path.stat().st_size
    prefix = _tag_prefix(source.name)
    limit = max(MIN_SCALARS, MAX_SCALARS // output.share)
    with decompressed_file(source.path, output.budget) as (path, broken):
        found = read_scalars(path, output.budget, limit)
    if broken:
        output.add_damage(broken)
    if (tags := len(set(found.tags))) > max_tags(limit):
        output.add_damage(f"holds {tags} tags or more; those after the first {max_tags(limit)} are left out")
        found.keep(kept_rows(found.tags, found.values, limit))
    if found.dropped:
        output.thinned = _THINNED
    times = _times(output, found.times)
    named = {tag: prefix + tag for tag in set(found.tags)}
    scopes = {tag: "global" if tag.startswith("epoch_") else scope_of(tag) for tag in named}
    output.columns["scalars"] = {
        "tag": [named[tag] for tag in found.tags],
        "step": found.steps,
        "time": times,
        "value": found.values,
        "scope": [scopes[tag] for tag in found.tags],
        "origin": ["event_file"] * len(found.tags),
    }
    for damage in found.damage:
        output.add_damage(damage.what, offset=damage.offset, length=damage.length)


def _times(output: SourceRows, times: Sequence[float]) -> Sequence[float | None]:
    """Return the times that a clock can show, None for others; extend the time span of the source."""
    known = [time for time in times if is_time(time)]
    for time in (min(known, default=None), max(known, default=None)):
        output.observe_time(time)
    if len(known) == len(times):
        return times
    output.add_damage(f"{len(times) - len(known)} values have a time that no clock shows")
    return [time if is_time(time) else None for time in times]


def _tag_prefix(name: str) -> str:
    """Return the prefix that keeps train/ and validation/ tags apart; Keras uses the same tags in both."""
    folders = (part.lower() for part in reversed(PurePosixPath(name).parent.parts))
    innermost = next((part for part in folders if worker_of(part, Kind.EVENT_FILE) is None), "")
    return f"{innermost}/" if re.match(VALIDATION, f"{innermost}/") else ""
