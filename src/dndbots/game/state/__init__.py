"""The state of a game: the tables that everybody folds from their own events, and the step in progress."""
