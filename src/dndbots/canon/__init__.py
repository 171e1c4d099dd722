"""Canon: what events make true, and who knows it. Pure functions from events to claims, and to values."""
