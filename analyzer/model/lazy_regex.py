"""Regexes that are compiled when they are first used: a small run needs few of those that readers define."""

import re
from typing import Any, AnyStr, Generic, cast


class _LazyRegex(Generic[AnyStr]):
    """Proxy of a regex that compiles it on first use, and caches each attribute that was looked up."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self._arguments: tuple[AnyStr, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a compiled regex has
        value = getattr(re.compile(*self._arguments), name)
        setattr(self, name, value)
        return value


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a stand-in for `re.compile(pattern, flags)` that compiles on first use."""
    return cast("re.Pattern[AnyStr]", _LazyRegex(pattern, flags))
