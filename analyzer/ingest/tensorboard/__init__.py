"""TensorBoard event files → scalars."""
