"""A page in a real Chromium, and all that it does."""

from pathlib import Path
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")
ARGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
FOLDED = """[...document.querySelectorAll("details:not([open])")]
    .filter((one) => one.lastElementChild.getBoundingClientRect().height === 0).length"""
UNFOLD = "for (const one of document.querySelectorAll('details')) one.open = true"


class Visit:
    """A page opened from disk, and everything that it did."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", self._asked)
        self.page.on("request", lambda request: self._requested(request.url, file))
        self.page.goto(file.as_uri())

    def _asked(self, dialog: Any) -> None:
        self.wrong.append(dialog.message)
        dialog.dismiss()

    def _requested(self, url: str, file: Path) -> None:
        if url.split("#")[0] != file.as_uri() and not url.startswith("data:image/svg"):
            self.wrong.append(f"request: {url}")
