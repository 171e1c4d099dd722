"""Alembic's entry: migrations run on the connection that `migrate` hands over, inside its transaction."""

from alembic import context

from dndbots.storage.sql.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller has begun, and will commit
)
context.run_migrations()
