"""Loads rule files: reads, checks and caches them, and applies overlays and packs."""
