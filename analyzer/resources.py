"""Where the files that travel with the package are: rules, templates, the schema."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """Return the path of packaged data, e.g. `resource("reports", "templates")`.

    A wheel carries it inside the package; a checkout has it beside the package.
    """
    installed = _PACKAGE / "_data"
    return (installed if installed.is_dir() else _PACKAGE.parent).joinpath(*parts)
