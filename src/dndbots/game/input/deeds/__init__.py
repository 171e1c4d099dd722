"""Deeds in typed lines: one module for each kind, and the choice between the senses of a verb."""
