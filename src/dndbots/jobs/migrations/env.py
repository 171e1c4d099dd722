"""Alembic's entry point for the queue, which keeps its tables and version in a namespace of its own."""

from alembic import context

from dndbots.jobs.sql_schema import NAMESPACE, metadata

connection = context.config.attributes["connection"]
connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {NAMESPACE}")
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table_schema=NAMESPACE,
    transactional_ddl=False,  # the caller began the transaction, and commits it
)
context.run_migrations()
