"""`python -m analyzer`, and what the console script calls, is `mwms-analyze`."""

import gc
import sys

# Rarer garbage collection: a small run ends before any is worth its time, which was 10 to 15 % of all
# processor time; a large run still collects.
gc.set_threshold(200_000, 50, 100)

try:
    from analyzer.cli.analyze import process
except KeyboardInterrupt:  # nothing has begun yet, and a traceback through imports would help nobody
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(process())
