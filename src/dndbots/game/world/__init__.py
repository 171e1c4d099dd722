"""The world: runs an adventure from its module and the table, without a model."""
