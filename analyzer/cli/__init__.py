"""The commands, one module per command; no other code reads arguments, prints or exits."""
