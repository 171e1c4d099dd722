"""Characters: abilities, classes, equipment and creation."""
