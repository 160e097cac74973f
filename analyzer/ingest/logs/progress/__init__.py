"""Progress of the training as logs print it: steps, epochs, metrics, and the forms of their lines."""
