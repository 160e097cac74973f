"""Says what a value that is no choice of an option may have been meant as."""

from collections.abc import Iterable


def choice_hint(given: str, known: Iterable[object], sign: str = "{}") -> str:
    """Return `did you mean NEAR?` if a choice is much like the given text, else `choose from A, B`."""
    choices = [str(each) for each in known]
    if near := nearest(given, choices, 0.6):
        return f"did you mean {sign.format(near)}?"
    return f"choose from {', '.join(map(sign.format, choices))}"


def nearest(name: str, known: Iterable[str], cutoff: float) -> str | None:
    """Return the known name most like another, of those alike by `cutoff` (0 to 1) or more."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, 1, cutoff)), None)
