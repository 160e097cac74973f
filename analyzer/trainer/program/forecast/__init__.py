"""A load forecast, trained by every worker of a cluster; written as by a user, for Python 3.8 and later."""
