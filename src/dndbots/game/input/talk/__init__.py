"""Talk in typed lines: questions, statements, verbs of speech, and answers to an offer."""
