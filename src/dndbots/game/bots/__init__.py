"""House players: bots that play a character without a model."""
