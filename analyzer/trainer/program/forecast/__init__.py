"""A load forecast as a user would write it, trained by all workers of a cluster; Python 3.8 or later."""
