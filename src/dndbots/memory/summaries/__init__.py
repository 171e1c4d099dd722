"""Summaries of what agents perceived: written by a model or extracted, checked, layered, and fitted."""
