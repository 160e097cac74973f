"""Functions on frames that all stages share: frames from rows, clock alignment, step times, intervals."""
