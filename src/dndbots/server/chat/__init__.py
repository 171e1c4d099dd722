"""The chat endpoint: an OpenAI-compatible door that adds a speaker's memory and follows the client's chat."""
