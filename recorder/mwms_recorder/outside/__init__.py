"""Records from outside the command: the supervisor is its parent process, the observer watches it."""
