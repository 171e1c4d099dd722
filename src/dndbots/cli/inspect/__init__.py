"""Commands that answer questions: recall, contexts, memories, logs and graphs."""
