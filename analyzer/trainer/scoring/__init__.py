"""Measures how often the analyzer is right on recordings, compared with simpler methods."""
