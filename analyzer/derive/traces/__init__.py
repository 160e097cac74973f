"""Derives from profiler traces what the steps spent their time on, and who waited for whom."""
