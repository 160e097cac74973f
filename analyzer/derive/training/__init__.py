"""Derives how far the training came: steps, pauses, silences and barriers, on a common clock."""
