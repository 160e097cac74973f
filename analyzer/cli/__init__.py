"""One module a command. Nobody else reads arguments, prints or exits."""
