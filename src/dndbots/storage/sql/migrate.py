"""Brings a database to the schema that this code knows. Alembic is loaded only when there is work to do."""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from dndbots.errors import StoreDamaged, StoreTooNew
from dndbots.storage.sql.database import Database
from dndbots.storage.sql.schema import REVISION

SCRIPTS: Final = Path(__file__).parent / "migrations"


def bring_up_to_date(db: Database) -> None:
    """Makes the tables of a new database, or migrates an old one; another program may be doing the same."""
    try:
        with db.engine.connect() as connection:
            db.dialect.configure(connection.connection.driver_connection)
            if _revision(connection, db.dialect.where) == REVISION:
                return
            db.dialect.lock_for_migration(connection)
            found = _revision(connection, db.dialect.where)
            if found != REVISION:
                _upgrade(connection, found, db.dialect.where)
            connection.commit()
    except DBAPIError as exc:
        raise db.dialect.translated(exc.orig if isinstance(exc.orig, Exception) else exc) from exc
    except db.dialect.errors as exc:
        raise db.dialect.translated(exc) from exc


def _revision(connection: Connection, where: str) -> str | None:
    tables = set(inspect(connection).get_table_names())
    found = None
    if "alembic_version" in tables:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if found is None and tables & {"events", "campaigns"}:
        raise StoreDamaged(where, reason="its tables are there, but not their version; restore a copy")
    return None if found is None else str(found)


def _upgrade(connection: Connection, found: str | None, where: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreTooNew(where, reason=f"its schema {found!r} is from a newer dndbots; upgrade dndbots")
    command.upgrade(config, "head")
