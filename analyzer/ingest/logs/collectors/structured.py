"""Structured log entries (JSON objects) → lines as a program would have printed them.

Level, logger, message and all other fields become one line, `ERROR:train:batch failed step=3 loss=nan`; an
exception among the fields becomes the traceback below it. Supports structlog, python-json-logger,
loguru's `serialize=True`, Elastic Common Schema, Cloud Logging's `jsonPayload` and `journalctl -o json`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analyzer.ingest.logs.prefixes.heads import LEVEL_NAMES, head
from analyzer.ingest.logs.text import storable

Entry = Mapping[str, Any]

STARTS = ("{", ":::MLLOG {")
"""How lines with an entry start."""
MESSAGE_KEYS = (
    "log",
    "message",
    "textPayload",
    "msg",
    "event",
    "MESSAGE",
    "@message",
    "line",
    "short_message",
    "body",
)
LEVEL_KEYS = ("level", "levelname", "log.level", "log_level", "loglevel", "lvl", "severity", "severity_text")
TIME_KEYS = ("timestamp", "time", "date", "datetime", "@timestamp", "ts", "asctime", "receiveTimestamp",
             "created", "__REALTIME_TIMESTAMP")  # fmt: skip
_LOGGER_KEYS = ("logger", "logger_name", "log.logger", "name", "SYSLOG_IDENTIFIER")
_EXCEPTION_KEYS = frozenset(
    {"exc_info", "exception", "exc_text", "stack_trace", "stacktrace", "traceback", "error.stack_trace"}
)
_TRACEBACK = "Traceback (most recent call last)"
PAYLOAD_KEYS = ("jsonPayload", "record")
"""Cloud Logging's and loguru's name for the object that holds the program's own fields."""
_ENVELOPE_KEYS = ("attributes", "result")
"""Datadog's and Splunk's name for the object that holds an event."""
_GROUP_KEYS = frozenset({"extra", "fields", "context", "data", "metrics", "error", "jsonPayload"})
"""Objects whose members count as fields of the entry itself."""
_SERVICE_KEYS = frozenset({
    *MESSAGE_KEYS, *LEVEL_KEYS, *TIME_KEYS, *_LOGGER_KEYS, *_EXCEPTION_KEYS, *PAYLOAD_KEYS,
    "args", "caller", "container", "elapsed", "file", "filename", "func_name", "funcName", "function",
    "insertId", "kubernetes", "labels", "levelno", "line", "lineno", "logName", "logStream", "logStreamName",
    "logtag", "module", "msecs", "namespace", "operation", "pathname", "pod", "process", "processName",
    "relativeCreated", "resource", "sourceLocation", "spanId", "stack_info", "stream", "taskName", "text",
    "thread", "threadName", "trace", "eventId", "ingestionTime", "_p", "@version",
})  # fmt: skip
"""Fields about the entry, not about the training."""
_SHIPPER_KEYS = frozenset({"agent", "cloud", "data_stream", "ecs", "host", "input", "log", "service"})
"""Objects in which Elastic's shippers say where an entry comes from."""
_CAPTURE_KEYS = ("textPayload", "short_message", "source_type")
"""Fields that only an entry of a collector has, whose message is a line as it was printed."""
SAID_KEYS = frozenset(
    {*MESSAGE_KEYS, *TIME_KEYS, *_EXCEPTION_KEYS, *PAYLOAD_KEYS, "resource", *_CAPTURE_KEYS}
)
"""Fields with an entry's message, time or exception, or which tell that its message was captured."""
_MAX_FIELDS, _MAX_VALUE_CHARS = 40, 200
_LOGGER_NAME = re.compile(r"[A-Za-z_][\w.]*$")
_ENDS = re.compile(r"(?i)(?<![a-z])(?:end|done|finish|complete)")
_TOTAL_KEYS = ("epochs", "total_epochs", "num_epochs", "max_epochs", "of")
_PROGRESS_KEYS = ("step", "global_step", "epoch", "iteration")


def parse(line: str) -> Entry | None:
    """Return the JSON object that a line consists of, behind the tag of MLPerf's logger; None for others."""
    if not (line.startswith(STARTS) and line.rstrip().endswith("}")):
        return None
    try:
        entry = json.loads(line[line.find("{") :])
    except (ValueError, RecursionError):
        return None
    return unwrapped(entry) if isinstance(entry, dict) else None


def _of_benchmark(entry: Entry, metadata: Entry) -> dict[str, Any]:
    """Return an event of MLPerf's logger with its key as message, and its value and metadata as fields."""
    key, value = str(entry.get("key")), entry.get("value")
    told = {name.removesuffix("_num"): each for name, each in metadata.items() if name not in _SERVICE_KEYS}
    time = entry.get("time_ms")
    return {
        "message": key,
        "time": time / 1000 if isinstance(time, int) else None,
        **({key: value} if isinstance(value, str | int | float) else {}),
        **told,
    }


def unwrapped(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the event in an entry of Datadog, Splunk, Elasticsearch or MLPerf; any other entry unchanged.

    From Datadog and Splunk, only message, time and pod or host are kept.
    """
    if isinstance(document := entry.get("_source"), dict):
        return document
    if "event_type" in entry and isinstance(metadata := entry.get("metadata"), dict) and "key" in entry:
        return _of_benchmark(entry, metadata)
    event: Entry = next((entry[key] for key in _ENVELOPE_KEYS if isinstance(entry.get(key), dict)), {})
    message = event.get("message", event.get("_raw"))
    if not isinstance(message, str):
        return entry
    named, tags = event, event.get("tags")
    if isinstance(tags, list):
        named = dict(str(tag).split(":", 1) for tag in tags if ":" in str(tag))
    origin = next((named[key] for key in ("pod_name", "pod") if key in named), event.get("host"))
    time = event.get("timestamp", event.get("_time"))
    return {"message": message, "timestamp": time, "logStreamName": origin}


def is_log_entry(entry: Entry) -> bool:
    """Return whether an object is a log entry: it has a message, or its time and a level or a step."""
    fields = {**payload(entry), **entry}
    has_message = any(isinstance(fields.get(key), str) for key in MESSAGE_KEYS)
    if has_message or isinstance(fields.get("MESSAGE"), list):
        return True
    has_subject = any(key in fields for key in (*LEVEL_KEYS, *_PROGRESS_KEYS))
    return has_subject and any(key in fields for key in TIME_KEYS)


def payload(entry: Entry) -> Entry:
    """Return the object with the program's own fields: a nested one, or the entry itself."""
    return next((entry[key] for key in PAYLOAD_KEYS if isinstance(entry.get(key), dict)), entry)


def render(entry: Entry) -> str:
    """Return the text of an entry, without its time; lines are separated by line breaks."""
    own = payload(entry)
    message = _message(own) or ("" if own is not entry else _message(entry))
    first, _, rest = message.partition("\n")
    if not (first[:1].isspace() or _is_captured(entry, own) or head(first)):
        fields = [] if first.startswith("Traceback") else list(_fields(own, first))
        first = _prefix(own) + " ".join([*filter(None, [first]), *fields])
    return storable("\n".join(part for part in (first, rest, _traceback(entry, own, message)) if part))


def _is_captured(entry: Entry, own: Entry) -> bool:
    """Return True if the message is a line that a process printed, and the level comes from the collector.

    Cloud Logging has such lines in `textPayload`, Vertex AI in the `jsonPayload` of an `ml_job`; Vector and
    GELF are told by a field of theirs.
    """
    resource = entry.get("resource")
    of_job = isinstance(resource, dict) and resource.get("type") == "ml_job" and own is not entry
    return of_job or any(isinstance(entry.get(key), str) for key in _CAPTURE_KEYS)


def message(entry: Entry) -> str:
    """Return the message of an entry, empty if it has none."""
    return _message(payload(entry)) or _message(entry)


def _message(fields: Entry) -> str:
    for key in MESSAGE_KEYS:
        value = fields.get(key)
        if isinstance(value, str):
            return value.rstrip("\n")
        if key == "MESSAGE" and isinstance(value, list):  # journald's form of bytes that are no UTF-8
            return bytes(byte & 255 for byte in value if isinstance(byte, int)).decode("utf-8", "replace")
    return ""


def _prefix(fields: Entry) -> str:
    """Return the prefix `LEVEL:logger:` that Python's `logging` would print; empty if there is no level."""
    level = next((_level_name(fields[key]) for key in LEVEL_KEYS if key in fields), "")
    logger = next((name for key in _LOGGER_KEYS if isinstance(name := fields.get(key), str)), "root")
    return f"{level}:{logger if _LOGGER_NAME.match(logger) else 'root'}:" if level else ""


def _level_name(value: object) -> str:
    name = value.get("name") if isinstance(value, dict) else value
    return name.upper() if isinstance(name, str) and name.upper() in LEVEL_NAMES else ""


def _fields(fields: Entry, message: str) -> Iterator[str]:
    """Yield `key=value` of the program's own fields, a step or epoch first, unless the message has them."""
    flat = dict(_flatten(fields))
    in_order = sorted(flat.items(), key=lambda item: item[0] not in _PROGRESS_KEYS)
    for key, value in in_order[:_MAX_FIELDS]:
        if isinstance(value, str) and _TRACEBACK in value:
            continue
        if not re.search(rf"(?<!\w){re.escape(key)}\W{{1,3}}\d", message):
            planned = _planned(flat) if key == "epoch" and _ENDS.search(message) else ""
            yield f"{key}={_value_text(value)}{planned}"


def _planned(fields: Entry) -> str:
    """Return `/EPOCHS`, the planned number in an entry about the end of an epoch; empty if it has none."""
    total = next((fields[key] for key in _TOTAL_KEYS if key in fields), None)
    return f"/{total}" if isinstance(total, int) and "step" not in fields else ""


def _flatten(fields: Entry, prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in fields.items():
        if isinstance(value, dict):
            if not prefix and key not in _SERVICE_KEYS | _SHIPPER_KEYS:
                yield from _flatten(value, "" if key in _GROUP_KEYS else f"{key}.")
        elif (prefix or (key not in _SERVICE_KEYS and not key.startswith("_"))) and value is not None:
            yield prefix + key, value
    if isinstance(host := fields.get("_HOSTNAME"), str):
        yield "hostname", host


def _value_text(value: object) -> str:
    if isinstance(value, str) and value and not re.search(r"[\s\"=]", value):
        return value[:_MAX_VALUE_CHARS]
    text = repr(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)
    return text[:_MAX_VALUE_CHARS]


def _traceback(entry: Entry, fields: Entry, message: str) -> str:
    """Return the traceback among the fields, empty if the message already has one."""
    if _TRACEBACK in message:
        return ""
    text = entry.get("text") if fields is not entry else None
    if isinstance(text, str) and (start := text.find(_TRACEBACK)) >= 0:
        return text[start:].rstrip("\n")
    error = fields.get("error")
    candidates = [fields.get(key) for key in _EXCEPTION_KEYS]
    candidates += [error.get("stack_trace") if isinstance(error, dict) else None]
    every = (*fields.values(), *(value for _, value in _flatten(fields)))
    candidates += [value for value in every if isinstance(value, str) and _TRACEBACK in value]
    found = next((text for value in candidates if (text := _exception_text(value))), "")
    return _with_error(found, fields) if found and _TRACEBACK not in found else found


def _with_error(frames: str, fields: Entry) -> str:
    """Return frames between Python's heading and the exception that other fields name; else as they are.

    Elastic's formatter for Python's logging has the class and the message in `error`, beside the frames.
    """
    error = fields.get("error")
    named = (
        error if isinstance(error, dict) else {key: fields.get(f"error.{key}") for key in ("type", "message")}
    )
    last = frames.rpartition("\n")[2]
    if not (last.startswith(" ") and isinstance(kind := named.get("type"), str)):
        return frames
    message = named.get("message")
    return f"{_TRACEBACK}:\n{frames}\n{kind}: {message}" if message else f"{_TRACEBACK}:\n{frames}\n{kind}"


def _exception_text(value: object) -> str:
    """Return an exception as Python prints it, from its text or from structlog's list of frames."""
    if isinstance(value, str):
        return value.strip("\n") if "Traceback" in value or 'File "' in value else ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return _exception_text("\n".join(line.rstrip("\n") for line in value))
    if isinstance(value, list):
        return "\n".join(_chained(value))
    if isinstance(value, dict):
        return next((text for key in _EXCEPTION_KEYS if (text := _exception_text(value.get(key)))), "")
    return ""


def _chained(exceptions: Sequence[object]) -> Iterator[str]:
    """Yield the lines of structlog's `dict_tracebacks`, whose last entry is the first cause."""
    known = [each for each in exceptions if isinstance(each, dict) and isinstance(each.get("exc_type"), str)]
    for position, raised in enumerate(reversed(known)):
        if position:
            yield from ("", "During handling of the above exception, another exception occurred:", "")
        yield "Traceback (most recent call last):"
        for frame in raised.get("frames") or ():
            if isinstance(frame, dict):
                yield f'  File "{frame.get("filename")}", line {frame.get("lineno")}, in {frame.get("name")}'
        value = raised.get("exc_value")
        yield f"{raised['exc_type']}: {value}" if value else str(raised["exc_type"])
