"""Alembic's entry for the queue, which keeps its tables and their version in a namespace of its own."""

from alembic import context

from dndbots.storage.sql.queue_schema import NAMESPACE, metadata

connection = context.config.attributes["connection"]
connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {NAMESPACE}")
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table_schema=NAMESPACE,
    transactional_ddl=False,  # the caller has begun, and will commit
)
context.run_migrations()
