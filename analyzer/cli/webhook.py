"""`--post`: sends a report to a webhook; neither path nor query of its address is ever printed."""

import http.client
import re
import urllib.error
import urllib.request
from typing import IO
from urllib.parse import urlsplit

from analyzer import __version__
from analyzer.model.errors import UsageError
from analyzer.redact import redact
from analyzer.render.sanitize import one_line

TIMEOUT = 30.0
"""Seconds to wait for a connection, and for each part of the answer."""
_MAX_ANSWER_BYTES = 2_000
_MAX_ERROR_CHARS = 200
_MEDIA = {
    "html": "text/html",
    "junit": "application/xml",
    "markdown": "text/markdown",
    "sarif": "application/sarif+json",
    **dict.fromkeys(("gitlab", "json", "slack"), "application/json"),
}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would turn the request into one without the report."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        """Return no request, so that the answer is an error."""


def shown(url: str) -> str:
    """Return scheme, host and port of a webhook; its path and query are as good as a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/…"


def check_webhook(url: str) -> None:
    """Check the form of an address before the run is read.

    Raises:
        UsageError: it is no HTTP address.
    """
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid or re.search(r"[\s\x00-\x1f]", url):
        raise UsageError("--post: needs an address that begins with https:// or http://")


def post(url: str, report: str, format: str, timeout: float = TIMEOUT) -> None:  # noqa: A002
    """Send a report to a webhook.

    Raises:
        UsageError: the webhook cannot be reached, or does not answer with success.
    """
    media = f"{_MEDIA.get(format, 'text/plain')}; charset=utf-8"
    headers = {"Content-Type": media, "User-Agent": f"mwms-analyze/{__version__}"}
    request = urllib.request.Request(url, report.encode("utf-8", "replace"), headers, method="POST")  # noqa: S310
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=timeout) as answer:
            answer.read(_MAX_ANSWER_BYTES)
    except urllib.error.HTTPError as error:
        words = error.read(_MAX_ANSWER_BYTES).decode("utf-8", "replace")
        raise _failure(url, f"answered {error.code}: {words or error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        problem = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
        late = isinstance(reason, TimeoutError)
        raise _failure(url, "no answer in time" if late else problem) from None


def _failure(url: str, problem: str) -> UsageError:
    """Return an error of one line, without secrets and without the path and query of the webhook's URL."""
    message, parts = f"--post {shown(url)}: {problem}", urlsplit(url)
    for secret in (url, parts.path, parts.query, parts.path.rpartition("/")[2]):
        if len(secret) > 3:
            message = message.replace(secret, "…")
    return UsageError(one_line(redact({"text": message})["text"], _MAX_ERROR_CHARS))
