"""Renders the latest events as an Atom feed (RFC 4287) and as a JSON feed (version 1.1)."""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from analyzer.triage.notify.events import text_lines

ATOM = "http://www.w3.org/2005/Atom"
_TITLE = "mwms-triage: new and recurring failures"


def atom(events: Iterable[Mapping[str, Any]], night: str, address: str) -> bytes:
    """Return the Atom feed; `night` is the date of the last update, `address` the URL of the outputs."""
    ET.register_namespace("", ATOM)
    feed = ET.Element(f"{{{ATOM}}}feed")
    _texts(feed, id=f"{address or 'urn:mwms-triage'}", title=_TITLE, updated=f"{night}T00:00:00Z")
    ET.SubElement(ET.SubElement(feed, f"{{{ATOM}}}author"), f"{{{ATOM}}}name").text = "mwms-triage"
    for event in events:
        entry = ET.SubElement(feed, f"{{{ATOM}}}entry")
        when = f"{event['night']}T00:00:00Z"
        _texts(entry, id=f"urn:mwms-triage:{event['id']}", title=_xml(event["title"]), updated=when)
        ET.SubElement(entry, f"{{{ATOM}}}link", href=_link(event, address))
        content = ET.SubElement(entry, f"{{{ATOM}}}content", type="text")
        content.text = _xml("\n".join(text_lines(dict(event))))
    return bytes(ET.tostring(feed, encoding="utf-8", xml_declaration=True)) + b"\n"


def json_feed(events: Iterable[Mapping[str, Any]], address: str) -> str:
    """Return the JSON feed; the event itself stands in the extension `_mwms`."""
    items = [
        {
            "id": event["id"],
            "title": event["title"],
            "url": _link(event, address),
            "content_text": "\n".join(text_lines(dict(event))),
            "date_published": f"{event['night']}T00:00:00Z",
            "_mwms": event,
        }
        for event in events
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": _TITLE, "items": items}
    return json.dumps(feed, ensure_ascii=False, indent=1) + "\n"


def _link(event: Mapping[str, Any], address: str) -> str:
    page = f"nights/{event['night']}.html"
    return str(event["link"] or (f"{address}/{page}" if address else page))


def _texts(element: ET.Element, **texts: str) -> None:
    for name, text in texts.items():
        ET.SubElement(element, f"{{{ATOM}}}{name}").text = text


def _xml(text: str) -> str:
    """Return the text without the control characters that XML 1.0 forbids."""
    return "".join(each for each in text if each >= " " or each in "\t\n")
