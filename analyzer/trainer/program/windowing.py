"""Windows of sensor values."""

import tensorflow as tf


def normalise(window, load):
    """Take the mean out of a window."""
    return window - tf.reduce_mean(window), load
