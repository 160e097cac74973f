"""Recommendations from ratings, trained with parameter servers."""
