"""Commands for playing: games, seats, characters and models."""
