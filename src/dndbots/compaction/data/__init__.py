"""Campaign data: its models, its fold from the log, its files, and the history of runs."""
