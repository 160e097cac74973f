"""The commands, one module each; only they read arguments, print or exit."""
