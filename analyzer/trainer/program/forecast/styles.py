# ruff: noqa: T201
"""Provides writers of log lines: plain prints, or a logging library that training programs use."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator  # noqa: UP035 (Python 3.8 runs this file too)

Write = Callable[[str, Dict[str, Any]], None]  # noqa: UP006 (Python 3.8)
"""Function that writes one line from a sentence or, in structured styles, from the event's values."""


def write_plain(message: str, values: dict[str, Any]) -> None:  # noqa: ARG001 (the sentence has them)
    """Print the sentence; the values are ignored."""
    print(message)


def logging_writer() -> Write:
    """Return a writer that uses Python's logging."""
    line = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format=line)
    log = logging.getLogger("train")
    return lambda message, _: log.info(message)


def absl_writer() -> Write:
    """Return a writer that uses absl's logging, with lines that look like TensorFlow's own."""
    from absl import logging as absl_logging

    absl_logging.set_verbosity(absl_logging.INFO)
    absl_logging.use_absl_handler()
    return lambda message, _: absl_logging.info(message)


def loguru_writer() -> Write:
    """Return a writer that uses loguru."""
    from loguru import logger

    return lambda message, _: logger.info(message)


def structlog_writer() -> Write:
    """Return a writer that prints JSON lines with structlog."""
    log = _structlog()
    return lambda message, values: log.info(values.pop("event", message), **values)


def _structlog() -> Any:  # noqa: ANN401
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ]
    )
    return structlog.get_logger()


def tqdm_writer() -> Write:
    """Return a writer that shows steps as a progress bar, and sentences above it."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    bar = tqdm(unit="step", mininterval=0.5)

    def write(message: str, values: dict[str, Any]) -> None:
        if "step" not in values:
            tqdm.write(message)
            return
        bar.total = values["of"]
        bar.set_postfix({key: values[key] for key in values if "loss" in key}, refresh=False)
        bar.update(values["step"] - bar.n)

    return write


WRITERS: Dict[str, Callable[[], Write]] = {  # noqa: UP006 (Python 3.8)
    "logging": logging_writer,
    "absl": absl_writer,
    "loguru": loguru_writer,
    "structlog": structlog_writer,
    "tqdm": tqdm_writer,
}


@contextmanager
def uncaught(style: str) -> Iterator[None]:
    """Log an uncaught exception of the `with` block in the given style, and exit with status 1."""
    if style == "loguru":
        from loguru import logger

        with logger.catch(onerror=lambda _: sys.exit(1)):
            yield
        return
    try:
        yield
    except Exception:
        if style != "structlog":
            raise
        _structlog().exception("training failed")
        sys.exit(1)
