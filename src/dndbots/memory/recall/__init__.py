"""Recall: find the lines and facts that answer a question, inside an exact budget."""
