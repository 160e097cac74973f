"""Options of commands: their configuration file, what all have, lengths of time, those of the triage."""
