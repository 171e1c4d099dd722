"""Responses of chat models: their shapes, the words and calls in them, and limits on their size."""
