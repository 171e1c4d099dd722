"""Models in the seats of a game: their questions, and the way from their answers to play.

A model never writes to the log. It speaks and calls tools; the engine decides what happens.
"""
