"""`python -m analyzer`, and what the console script calls, is `mwms-analyze`."""

import gc
import sys

gc.disable()  # an import leaves no rubbish: to look for it all the same takes a twentieth of a small run

from analyzer.cli.analyze import process  # noqa: E402

gc.enable()

if __name__ == "__main__":
    sys.exit(process())
