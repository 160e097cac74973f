"""An HTTP server on this machine that answers with the result of a function, and remembers the requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

Answer = tuple[int, Any]
"""Status and body: bytes, a text, or a value that is sent as JSON."""


class Request(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


class HttpServer:
    """Serves until `close`; `url` is where."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(answer))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self, answer: Callable[[Request], Answer]) -> type[BaseHTTPRequestHandler]:
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, self.path, body, dict(self.headers))
                requests.append(request)
                status, told = answer(request)
                kind, content = _content(told)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

            def log_message(self, *arguments: object) -> None:
                """Stay silent."""

        return Handler


def _content(body: Any) -> tuple[str, bytes]:
    if isinstance(body, bytes):
        return "application/octet-stream", body
    return (
        ("text/plain", body.encode())
        if isinstance(body, str)
        else ("application/json", json.dumps(body).encode())
    )
