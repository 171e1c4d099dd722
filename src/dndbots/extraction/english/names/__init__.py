"""Names that a passage shows to be of people and places, by the sum of what it does with them."""
