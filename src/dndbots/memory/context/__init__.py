"""What an agent reads: a view of the log inside an exact budget, with a reason and sources for every line."""
