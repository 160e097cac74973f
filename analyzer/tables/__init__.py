"""What every stage may use on frames: rows made into declared frames, clocks aligned, step times."""
