"""The program that the workers run: copied out as it is, never imported by the trainer."""
