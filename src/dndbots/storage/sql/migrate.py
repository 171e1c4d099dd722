"""Migrations: bring a database to the schema of this code. Alembic is loaded only when there is work."""

from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from dndbots.errors import StoreDamaged, StoreTooNew
from dndbots.storage.sql import schema
from dndbots.storage.sql.database import Database

_HERE: Final = Path(__file__).parent


class Tables(NamedTuple):
    """Tables that are migrated together: the scripts, the newest revision, and names that identify them."""

    scripts: Path
    revision: str
    known_by: frozenset[str]
    namespace: str | None = None


CAMPAIGNS: Final = Tables(_HERE / "migrations", schema.REVISION, frozenset(("events", "campaigns")))


def bring_up_to_date(db: Database, tables: Tables = CAMPAIGNS) -> None:
    """Make the tables of a new database, or migrate an old one. Another program may do the same."""
    try:
        try:
            _bring_up_to_date(db, tables)
        except DBAPIError as exc:
            if not exc.connection_invalidated:
                raise
            # The pooled connection was stale, because the server went away; the next one is new.
            _bring_up_to_date(db, tables)
    except DBAPIError as exc:
        raise db.dialect.translate(exc.orig if isinstance(exc.orig, Exception) else exc) from exc
    except PoolTimeout as exc:
        raise db.dialect.translate(exc) from exc
    except db.dialect.errors as exc:
        raise db.dialect.translate(exc) from exc


def _bring_up_to_date(db: Database, tables: Tables) -> None:
    with db.engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        db.dialect.check_before(raw)
        db.dialect.configure(raw)
        if _revision(connection, tables, db.dialect.where) == tables.revision:
            db.dialect.check_shape(raw)
            return
        db.dialect.lock_for_migration(connection)
        found = _revision(connection, tables, db.dialect.where)
        if found != tables.revision:
            _upgrade(connection, tables, found, db.dialect.where)
            db.dialect.check_shape(raw)
        connection.commit()


def _revision(connection: Connection, tables: Tables, where: str) -> str | None:
    there = set(inspect(connection).get_table_names(schema=tables.namespace))
    found = None
    if "alembic_version" in there:
        table = f"{tables.namespace}.alembic_version" if tables.namespace else "alembic_version"
        found = connection.exec_driver_sql(f"SELECT version_num FROM {table}").scalar()  # noqa: S608 - ours
    if found is None and there & tables.known_by:
        raise StoreDamaged(where, reason="its tables have no version; restore a copy")
    return None if found is None else str(found)


def _upgrade(connection: Connection, tables: Tables, found: str | None, where: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(tables.scripts))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreTooNew(where, reason=f"its schema {found!r} is from a newer dndbots; upgrade dndbots")
    command.upgrade(config, "head")
