"""From directories to diagnoses: storage, the runs below a root, and the workers that analyze them."""
