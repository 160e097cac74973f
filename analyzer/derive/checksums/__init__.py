"""Derives from the checksums of recorders whether weights and batches agree, are finite and current."""
