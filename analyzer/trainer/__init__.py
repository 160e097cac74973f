"""The reference trainer: runs real jobs that fail in a known way, and keeps what a user would collect."""
