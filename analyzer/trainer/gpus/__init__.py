"""Assigns GPUs to workers, asks the driver about them, and keeps what driver and NCCL say."""
