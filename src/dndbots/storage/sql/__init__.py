"""The SQL backend: one schema for SQLite and PostgreSQL."""
