"""The training program; the trainer copies it into the workers' folders and never imports it."""
