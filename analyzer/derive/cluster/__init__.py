"""Derives who belongs to the job, what each worker states and what its peers say of it, and how it ended."""
