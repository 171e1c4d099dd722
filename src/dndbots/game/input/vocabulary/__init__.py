"""The words of players: verbs and other words as data, what is here by name, and the slots of a deed."""
