"""What Lighthouse says of reports: scores for accessibility and best practices, which must be 100.

`python benchmarks/lighthouse.py [REPORT …]` serves reports of the showcase, two unless they are named, on
loopback, and lets Lighthouse open them in Debian's Chromium. It needs `npx`, and a registry with Lighthouse.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SHOWCASE = Path(__file__).resolve().parent.parent / "reports" / "showcase"
DEFAULT = ("worker-killed", "slow-input-tf211")
LIGHTHOUSE = "lighthouse@12.8.2"
CATEGORIES = ("accessibility", "best-practices")
CHROMIUM = "/usr/bin/chromium"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (as the library calls it)
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server on loopback that serves a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def judged(address: str, folder: Path) -> Mapping[str, int]:
    """The score of each category, of 100."""
    told = folder / "lighthouse.json"
    command = ["npx", "--yes", LIGHTHOUSE, address, f"--only-categories={','.join(CATEGORIES)}", "--quiet"]
    command += ["--chrome-flags=--headless --no-sandbox", "--output=json", f"--output-path={told}"]
    environment = {**os.environ, "CHROME_PATH": CHROMIUM}
    subprocess.run(command, check=True, env=environment)  # noqa: S603 - our own command
    found = json.loads(told.read_text(encoding="utf-8"))["categories"]
    return {name: round(100 * found[name]["score"]) for name in CATEGORIES}


def main(names: Sequence[str]) -> int:
    """Print a row for each report; the status is 1 where a score is below 100."""
    print(f"| report | {' | '.join(CATEGORIES)} |\n|---|{'---|' * len(CATEGORIES)}")  # noqa: T201
    whole = True
    with tempfile.TemporaryDirectory() as folder, served(SHOWCASE) as address:
        for name in names:
            scores = judged(f"{address}/{name}.html", Path(folder))
            whole = whole and min(scores.values()) == 100
            print(f"| {name} | {' | '.join(map(str, scores.values()))} |", flush=True)  # noqa: T201
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or DEFAULT))
