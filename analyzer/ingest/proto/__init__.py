"""Schemas of our own for the binary sources, and the code that protoc made of them."""
