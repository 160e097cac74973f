"""Types that stages exchange: sources, table columns, findings, diagnosis, errors."""
