"""Prefixes of collectors that no style knows, learned from the lines of TensorFlow that they stand before."""
