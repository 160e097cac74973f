"""The history of all nights: a database, its tables and their upgrades."""
