"""Derives how far the training came: steps, curves, pauses, silences and barriers, on a common clock."""
