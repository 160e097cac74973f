"""The prefixes of log lines: times in many formats, levels, names of loggers, and the text behind them."""
