"""The program that the workers run; it is copied into their folders, never imported by the trainer."""
