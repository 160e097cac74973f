"""Inside the command's Python process: the hook, which waits for TensorFlow and then notes what it does."""
