"""One module a system: REQUIRES names the packages it needs, and `open_memory(folder)` returns a `Memory`."""
