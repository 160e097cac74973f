"""Nightly triage of many runs: which failures are new, known or recurring, and which machine causes them.

roots ─find_runs→ runs ─examine→ diagnoses ─record→ history ─publish→ index page, digest, metrics, JSON lines
"""
