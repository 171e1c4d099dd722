"""Endless adventures: chapters made from tables."""
