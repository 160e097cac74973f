"""TF_CONFIG files → facts."""

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform import environments, tf_config
from analyzer.ingest.reader_output import SourceRows, whole_text


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read a worker's TF_CONFIG; text that is not JSON becomes a fact `tf_config_error`."""
    text = whole_text(output)
    if environments.is_environment(text):
        environments.add_facts(output, matcher, text)
    else:
        tf_config.add_facts(output, text, 1)
