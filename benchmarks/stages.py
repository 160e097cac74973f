"""One diagnosis, stage by stage: prints the seconds of each as JSON. `python -m benchmarks.stages RUN`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

Stages = dict[str, float]


def stages(run: Path) -> Stages:
    """Seconds from the first import to the written page."""
    found: Stages = {}
    last = time.perf_counter()

    def done(stage: str) -> None:
        nonlocal last
        now = time.perf_counter()
        found[stage] = now - last
        last = now

    from analyzer.derive import derive
    from analyzer.discover import discover
    from analyzer.identify import identify
    from analyzer.ingest import ingest
    from analyzer.pipeline import diagnose_tables, load_rules
    from analyzer.redact import redact

    done("import")
    pack = load_rules()
    done("rules")
    files = discover([run])
    done("discover")
    read = identify(ingest(files, pack.patterns, pack.messages), pack.messages)
    done("ingest")
    tables = dict(derive(read, pack.messages))
    done("derive")
    document = redact(diagnose_tables(run.name, tables, pack).document, "secrets")
    done("judge")
    from analyzer.render import render

    render(document, "html")
    done("render")
    return found


if __name__ == "__main__":
    print(json.dumps(stages(Path(sys.argv[1]))))  # noqa: T201
