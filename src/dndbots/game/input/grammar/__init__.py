"""The grammar of a typed line: its clauses, who is addressed in each, and the slots of a deed."""
