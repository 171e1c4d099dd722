"""The job queue of one database, the kinds of jobs it holds, and the worker that does them."""
