"""Storage of campaigns: the port, its backends, the way from events to rows and back, and the views."""
