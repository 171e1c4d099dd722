"""What comes in from elsewhere and goes out again: logs, transcripts."""
