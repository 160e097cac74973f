"""Selects log lines to show: anomalous lines, last lines, and lines that hint at a cause."""
