"""TF_CONFIG: what is not JSON was not read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from analyzer.model.run import Tables
from tests.fuzz.oracles import WIDE, damaged, unsaid
from tests.fuzz.target import Case


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """A text that is not JSON is damage, and so is one that is not text."""
    yield from unsaid(case, tables)
    if not damaged(tables) and not _is_json(case.data):
        yield "is not JSON, and is called whole"


def _is_json(data: bytes) -> bool:
    text = data.decode("utf-16" if data.startswith(WIDE) else "utf-8-sig", "replace")
    bare = re.sub(r"^\s*(export\s+)?(TF_CONFIG\s*=)?|['\"\s]+$", "", text).lstrip("'\" \t\r\n")
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True
