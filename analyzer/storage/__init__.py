"""Bytes on disk: archives, compressed files, the disk cache, files that travel with the package."""
