"""Alembic's entry point: migrations run on the connection of `migrate`, inside its transaction."""

from alembic import context

from dndbots.storage.sql.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller began the transaction, and commits it
)
context.run_migrations()
