"""`python -m analyzer` is `mwms-analyze`."""

import sys

from analyzer.cli.analyze import main

sys.exit(main())
