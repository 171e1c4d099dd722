"""Where a campaign is kept: the port, its backends, and what turns events into rows and back."""
