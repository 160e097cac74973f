"""Runs `mwms-analyze`, for `python -m analyzer` and for the console script."""

import gc
import sys

# Rarer garbage collection, which took 10 to 15 % of the processor time of a small run; a large run still
# collects.
gc.set_threshold(200_000, 50, 100)

try:
    from analyzer.cli.analyze import process
except KeyboardInterrupt:  # interrupted during the imports: a traceback would not help
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(process())
