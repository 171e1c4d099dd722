"""The rules themselves, by what they read: people, places, things, quests."""
