"""Options of the commands: configuration file, standard options, durations and dates, `mwms-triage`."""
