"""Work for many campaigns of one database: what kinds there are, and the workers that do it."""
