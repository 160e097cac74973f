"""Proves from kernel data, independent of what workers print, that a fault took effect."""
