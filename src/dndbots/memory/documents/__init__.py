"""Memory documents in DCML, built from lists of events."""
