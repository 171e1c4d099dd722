"""The DM's side of the table: the tools a DM can call, what they do, and a person as DM."""
