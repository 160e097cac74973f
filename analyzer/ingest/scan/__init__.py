"""Large logs: which of their lines are worth reading, found without taking any line apart."""
