"""Runs the service that lists the data files; it is down or refuses access for some workers."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.free_ports import free_ports
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.network import answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


class Catalogue(BaseHTTPRequestHandler):
    """HTTP handler that returns the list of data files, or 403 if the key is `expired`."""

    files = b""
    counts: ClassVar[Counter[str]] = Counter()
    """Number of requests by outcome: `answered`, `refused`."""

    def do_GET(self) -> None:
        """Send the list of data files, or 403 if the key is `expired`."""
        if "key=expired" in self.path:
            self.counts["refused"] += 1
            self.send_error(403)
            return
        self.counts["answered"] += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.files)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as `http.server` names it
        """Log nothing."""


@dataclass
class CatalogueService(Fault):
    """Fail requests of the guilty worker or of `everyone`: `none` (no service on the port), `forbidden`."""

    answer: str = "none"
    everyone: bool = False
    good: str = field(default="", init=False)
    nowhere: str = field(default="", init=False)
    counts: Counter[str] = field(default_factory=Counter, init=False)
    server: ThreadingHTTPServer | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.answer not in {"none", "forbidden"}:
            raise ValueError(f"no such answer: {self.answer!r}")

    def prepare(self, workspace: Workspace) -> None:
        """Start the service."""
        files = (workspace.folder(0) / "config/files.txt").read_bytes()
        answers_of = type("Answers", (Catalogue,), {"files": files, "counts": self.counts})
        self.nowhere = _url_without_listener()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), answers_of)
        self.good = f"http://127.0.0.1:{self.server.server_port}/loads/files?key="
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def arguments(self, index: int) -> Sequence[str]:
        """Return the option with the URL of the list: a failing one for affected workers."""
        place = self.good + "valid"
        if self.everyone or index == self.guilty:
            place = self.good + "expired" if self.answer == "forbidden" else self.nowhere
        return ("--manifest", place)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the service refused requests, or that nothing listens at the wrong URL."""
        count = evidence.workspace.scenario.workers
        evidence.life(self.guilty)
        if self.answer == "forbidden":
            require(self.counts["refused"], "nobody asked the service with the expired key")
            return f"the service refused {self.counts['refused']} requests"
        place = self.nowhere.removeprefix("http://").partition("/")[0]
        require(place and not answers(place), f"somebody answers at {place}")
        require(self.counts["answered"] <= (0 if self.everyone else count - 1), "every worker got its list")
        return f"nobody answers at {place}; {evidence.require_raised(self.guilty)}"

    def cleanup(self) -> None:
        """Stop the service."""
        if self.server:
            self.server.shutdown()
            self.server.server_close()


def _url_without_listener() -> str:
    return f"http://127.0.0.1:{free_ports(1)[0]}/loads/files"
