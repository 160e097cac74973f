"""Who belongs to the job, and what the workers state about themselves and each other."""
