"""Chat histories: keep a campaign in step with a chat that people edit, cut, swipe and branch."""
