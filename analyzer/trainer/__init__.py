"""The reference trainer: breaks a real job in a known way, and hands over what a user would have."""
