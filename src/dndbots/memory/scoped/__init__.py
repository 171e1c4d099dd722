"""Scoped memories of places, people and the world: made, stored on shelves, and shown to the DM."""
