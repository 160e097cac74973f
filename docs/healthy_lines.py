"""Writes `rules/healthy_lines.txt`: what TensorFlow prints in healthy recordings."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from analyzer.discover import discover
from analyzer.ingest.raw_lines import line_templates
from analyzer.model.log_template import template_of
from analyzer.trainer.catalogue import SAMPLE_RUNS

TRAINER = Path(__file__).resolve().parent.parent / "analyzer" / "trainer"


def healthy_lines() -> str:
    """What TensorFlow prints in healthy recordings, each line once, as a template; nothing of our trainer."""
    runs = (path.parent / "run" for path in sorted(SAMPLE_RUNS.glob("*/expected.json")) if _is_healthy(path))
    lines = {line for run in runs for line in line_templates(discover([run]))}
    ours = printed_by_trainer()
    return "".join(f"{line}\n" for line in sorted(lines - {""}) if not ours.fullmatch(line))


PLACEHOLDER = r"%[-0-9.]*[dsfg]|\{[^{}]*\}"
"""What logging and loguru fill in, in the texts of the workloads."""
LONG = 12
"""Characters from which on a text in a program counts as a line that it prints."""
FRAMING = (
    r".* service=recsys.*",
    r'\{.*"event": .*',
    r".*\|.*\[.*(?:step/s|s/step).*",
    r'"\w+": .*',
    r"[\[\]{},]*",
)
"""JSON lines and progress bars of the trainer, and the braces of exported logs."""


def printed_by_trainer() -> re.Pattern[str]:
    """A regex for what the trainer's program says, and for its source that tracebacks quote, as templates."""
    files = [file for folder in ("program", "workloads") for file in sorted((TRAINER / folder).rglob("*.py"))]
    sources = [file.read_text(encoding="utf-8") for file in files]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    quoted = {line.strip() for source in sources for line in source.split("\n") if line.count("(")}
    frames = [f"File .*, in {node.name}" for node in nodes if isinstance(node, ast.FunctionDef)]
    says = [_template(node) for node in nodes if isinstance(node, ast.JoinedStr)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    ways = [
        *(".*".join(map(re.escape, re.split(PLACEHOLDER, text))) for text in texts if len(text) > LONG),
        *(re.escape(template_of(line)) for line in quoted),
        *frames,
        *filter(None, says),
        "training complete.*",
        *FRAMING,
    ]
    return re.compile(rf"(?:.*(?: INFO train: |\] | - ))?(?:{'|'.join(ways)})")


def _template(text: ast.JoinedStr) -> str:
    """A regex for what an f-string makes; empty unless it begins with a word."""
    parts = [str(part.value) if isinstance(part, ast.Constant) else "" for part in text.values]
    if not re.match(r"[A-Za-z]{4}", parts[0]):
        return ""
    return "".join(re.escape(part) if re.search(r"[a-z]", part) else ".*" for part in parts)


def _is_healthy(expected: Path) -> bool:
    return bool(json.loads(expected.read_text(encoding="utf-8"))["cause"] == "healthy")
