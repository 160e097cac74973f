"""`--post` against a real HTTP server on this machine."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.cli.analyze import main
from analyzer.cli.webhook import check_webhook, post, shown
from analyzer.model.errors import UsageError
from tests.collect.http_server import Answer, HttpServer, Request

SECRET = "T0A1/B0B1/abcdefghijklmnop12345678"
LOG = {"worker-0.log": "step 1 loss 0.5\n", "exit_codes.txt": "worker-0 1\n"}


class Webhook:
    """A webhook that answers as it is told."""

    def __init__(self) -> None:
        self.answer: Answer = (200, "ok")
        self.server = HttpServer(self._answer)
        self.url = f"{self.server.url}/services/{SECRET}?token=hunter2hunter2"

    def _answer(self, request: Request) -> Answer:
        return self.answer

    @property
    def posted(self) -> Request:
        """The one request that came."""
        (request,) = self.server.requests
        return request


@pytest.fixture
def webhook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    """Serve a webhook; the current directory is empty."""
    monkeypatch.chdir(tmp_path)
    made = Webhook()
    yield made
    made.server.close()


@pytest.mark.runs
@pytest.mark.parametrize(
    ("given", "media"),
    [
        (None, "application/json"),
        ("slack", "application/json"),
        ("markdown", "text/markdown"),
        ("text", "text/plain"),
    ],
)
def test_the_report_is_posted(
    webhook: Webhook, make_run: Any, capsys: Any, given: str | None, media: str
) -> None:
    """In the format that is asked for; no file is written, and the exit status stays that of the verdict."""
    run = make_run(LOG)
    before = set(Path().rglob("*"))
    assert main([str(run), "--post", webhook.url, *(["--format", given] if given else [])]) == 3
    assert set(Path().rglob("*")) == before
    sent = webhook.posted
    assert sent.method == "POST"
    assert sent.headers["Content-Type"] == f"{media}; charset=utf-8"
    assert sent.path.endswith("?token=hunter2hunter2")
    if media == "application/json":
        assert json.loads(sent.body)
    told = capsys.readouterr()
    assert f"posted to {webhook.server.url}/…" in told.err
    assert "Unknown" in told.out
    assert SECRET not in told.err + told.out


@pytest.mark.runs
def test_the_report_is_written_too_where_asked(webhook: Webhook, make_run: Any) -> None:
    """Word for word what was posted."""
    main([str(make_run(LOG)), "--post", webhook.url, "-o", "report.md"])
    assert webhook.posted.body == Path("report.md").read_bytes()


@pytest.mark.runs
@pytest.mark.parametrize(
    "answer",
    [(500, "no room for /services/" + SECRET), (404, "no_team"), (302, ""), (403, {"token": SECRET})],
)
def test_an_answer_that_is_no_success_is_told(
    webhook: Webhook, make_run: Any, capsys: Any, answer: Answer
) -> None:
    """With status and words, without the address; the diagnosis is printed first."""
    webhook.answer = answer
    assert main([str(make_run(LOG)), "--post", webhook.url]) == 2
    told = capsys.readouterr()
    assert f"mwms-analyze: --post {webhook.server.url}/…: answered {answer[0]}" in told.err
    assert "no room for" in told.err or answer[0] != 500
    assert SECRET not in told.err
    assert "hunter2" not in told.err
    assert "Unknown" in told.out


def test_nobody_listens(make_run: Any, capsys: Any) -> None:
    """The system's words."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/{SECRET}"
        with pytest.raises(UsageError, match="Connection refused") as raised:
            post(url, "x", "text")
    assert SECRET not in str(raised.value)


@pytest.mark.processes
def test_nobody_answers() -> None:
    """After the time limit."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/{SECRET}"
        with pytest.raises(UsageError, match="no answer in time") as raised:
            post(url, "x", "text", timeout=0.2)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.slack.com/x",
        "ftp://host/x",
        "file:///etc/passwd",
        "https://",
        "http://a b/",
        "http://host:x/",
    ],
)
def test_an_address_is_checked_first(url: str) -> None:
    """Without printing it."""
    with pytest.raises(UsageError, match="needs an address that begins with https://"):
        check_webhook(url)


def test_two_formats_are_refused(make_run: Any, capsys: Any) -> None:
    """A webhook takes one body."""
    assert main([str(make_run(LOG)), "--post", "http://127.0.0.1:1/x", "--format", "slack,json"]) == 2
    assert "--format slack,json: --post takes one format" in capsys.readouterr().err


def test_two_formats_of_a_file_are_refused_with_its_line(
    make_run: Any, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the options can be printed, to see where each comes from."""
    monkeypatch.chdir(tmp_path)
    Path("mwms.toml").write_text('[analyze]\npost = "https://host/x"\nformat = "html,json"\n', "utf-8")
    assert main([str(make_run(LOG))]) == 2
    assert capsys.readouterr().err.startswith("mwms-analyze: mwms.toml:3: --format html,json: --post takes")
    assert main(["--print-config"]) == 0
    assert 'format = "html,json"  # mwms.toml:3' in capsys.readouterr().out


def test_user_and_password_are_not_shown() -> None:
    """Nor path and query."""
    assert shown("https://me:hunter2@host:8443/a/b?c=d") == "https://host:8443/…"
