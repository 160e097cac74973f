"""`python -m analyzer` is `mwms-analyze`."""

import sys

from analyzer.cli.analyze import process

sys.exit(process())
