"""TF_CONFIG files → facts."""

from __future__ import annotations

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform import environments, tf_config
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.model.run import Source


def read(source: Source, matcher: Matcher) -> SourceRows:
    """Read a worker's TF_CONFIG; text that is not JSON becomes a fact `tf_config_error`.

    Raises:
        OSError: the file cannot be read.

    """
    output = SourceRows(source)
    text = whole_text(output)
    if environments.is_environment(text):
        matcher.begin_file()
        environments.add_facts(output, matcher, text)
    else:
        tf_config.add_facts(output, text, 1)
    return output
