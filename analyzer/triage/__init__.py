"""Triages many runs every night: which failures are new, known or recurring, and which hosts cause them.

roots ─find_runs→ runs ─examine→ diagnoses ─record→ history ─publish→ index page, digest, metrics, JSON lines
"""
