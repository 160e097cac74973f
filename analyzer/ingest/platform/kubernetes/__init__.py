"""What `kubectl` says of the pods of a job."""
