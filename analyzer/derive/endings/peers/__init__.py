"""Which worker reports which peer as lost, and which of these reports are evidence."""
