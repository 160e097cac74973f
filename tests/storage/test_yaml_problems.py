"""What YAML's parser stumbles over is said in words that tell what to do, and nothing else of that file."""

from pathlib import Path

import pytest

from analyzer.engine.loading.load import load
from analyzer.model.errors import RuleError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id: mine\n\ttitle: x\n", "mine.yaml:2: indent with spaces: YAML allows no tab"),
        ("id: mine\nsignals:\n\ta: x\n", "mine.yaml:3: indent with spaces: YAML allows no tab"),
        ("id: mine\ntitle: @a\n", "mine.yaml:2: put the text in quotes: YAML reads no text here"),
        (
            "id: mine\ntitle: a: b\n",
            "mine.yaml:2: put a text with `: ` in quotes, or indent this line as its neighbours",
        ),
        (
            "id: mine\nsummary: {subject} got no answer\ntitle: x\n",
            "mine.yaml:2: put the text in quotes: without them, `{` begins no text",
        ),
        (
            "id: mine\nwhy:\n  - [OOM] killed it\n",
            "mine.yaml:3: put the text in quotes: without them, `[` begins no text",
        ),
        ("id: mine\nlog: {any_of: [a], b}\n when: x\n", "mine.yaml:3: indent this line as its neighbours"),
        (
            'id: mine\nregex: "shard \\d+"\n',
            "mine.yaml:2: put a text with `\\`, such as a regex, in single quotes",
        ),
        ('id: mine\ntitle: "a\n', "mine.yaml:3: close the quotes or the bracket: the file ends within"),
    ],
)
def test_it_is_said_what_to_do(text: str, said: str, few_rules: Path, tmp_path: Path) -> None:
    """A file that cannot be parsed lacks no keys: it has one fault."""
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RuleError) as wrong:
        load([few_rules, tmp_path])
    assert [line.rsplit("/", 1)[-1] for line in str(wrong.value).splitlines()] == [said]
