"""Import and export: event logs as JSON lines, and transcripts of play."""
