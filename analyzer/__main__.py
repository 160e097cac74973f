"""`python -m analyzer`, and what the console script calls, is `mwms-analyze`."""

import gc
import os
import sys

# A small run ends before there is rubbish worth looking for, and looking for it took a tenth of the time;
# a large one still gets rid of it.
gc.set_threshold(200_000, 50, 100)
# What numpy does here needs no threads; without this, one for each core spins for a tenth of a second.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    from analyzer.cli.analyze import process
except KeyboardInterrupt:  # nothing is begun yet, and nobody wants to see where in it
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(process())
