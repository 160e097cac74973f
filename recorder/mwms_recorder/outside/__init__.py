"""Outside the command: the supervisor, which is its parent, and the observer, which watches it."""
