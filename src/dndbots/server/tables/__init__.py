"""The tables of the server: campaigns that are open, games in play, and the story of each seat."""
