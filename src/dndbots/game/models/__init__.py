"""Models in the seats of a game: what they are asked, and what of their answers becomes play.

A model never writes: it speaks and calls, and the engine decides what comes of it.
"""
