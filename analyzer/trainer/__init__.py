"""The reference trainer: runs real jobs that fail in a known way, and stores what a user would collect."""
