"""`--version`: the version of the package, and of the installed packages that extend it."""

from argparse import Action, ArgumentParser

from analyzer import __version__
from analyzer.storage.extensions import READERS, RULES, extensions

_ADDED = {RULES: "rules", READERS: "reader"}


class _PrintVersion(Action):
    """Prints the versions and exits; installed packages are looked up only then."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        print(f"{parser.prog} {__version__}")
        for each in (*extensions(RULES), *extensions(READERS)):
            print(f"{each.title} ({_ADDED[each.group]} {each.name})")
        parser.exit()


def add_version(parser: ArgumentParser) -> None:
    """Add `--version` to a command."""
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version and exit")
