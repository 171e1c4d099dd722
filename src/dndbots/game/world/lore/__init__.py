"""The lore of an adventure: the words that its topics, people and places go by, and questions about them."""
