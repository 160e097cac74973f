"""Records inside the command's Python process: a hook that observes TensorFlow once it is imported."""
