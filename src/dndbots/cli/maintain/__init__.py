"""Commands that keep campaigns: create, import, export, compact, decide and review."""
