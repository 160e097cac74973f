"""Selects log lines worth showing: anomalous, final and telling ones."""
