"""The agents of a game: the memory of each, the game state of all, and its upkeep round by round."""
