"""What events make true, and who knows it: pure functions from events to claims, and back to values."""
