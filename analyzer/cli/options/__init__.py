"""Options that several commands have: the configuration file, the version."""
