"""Choose the lines of the logs that a reader should see: odd ones, last ones, telling ones."""
