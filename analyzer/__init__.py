"""mwms-analyze: which worker broke a distributed TensorFlow job, why, and what to do."""

__version__ = "0.1.0"
