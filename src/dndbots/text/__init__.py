"""Words, sentences, names and English forms, and the cleaning of text from players, models and files.

One of each, for all rooms above: one folding, one stemmer, one stop list, one sentence splitter.
"""
