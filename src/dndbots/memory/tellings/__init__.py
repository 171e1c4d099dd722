"""Prose from what was decided: deeds joined to passages, passages to sentences, and lines worth quoting."""
