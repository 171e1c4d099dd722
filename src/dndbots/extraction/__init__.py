"""Extraction of facts from prose: the port, the extractor that asks a model, and the English rules."""
