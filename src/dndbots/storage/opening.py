"""From an address to a store: a folder for SQLite, a URL for PostgreSQL."""

from pathlib import Path

from dndbots.errors import InvalidSetting
from dndbots.storage.ports import Store

TIMEOUT = 30.0
# A folder has one campaign, whatever the folder is called later.
_ONLY = "campaign"


def open_store(where: str | Path, *, create: bool = True, timeout: float = TIMEOUT) -> Store:
    """The store at an address. `timeout` is how many seconds to wait for others who are writing."""
    if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
        return _postgres(where, create=create, timeout=timeout)
    if isinstance(where, str) and "://" in where:
        raise InvalidSetting("campaign", where, reason="is neither a folder nor a postgresql:// address")
    from dndbots.storage.sql.sqlite import SqliteDialect
    from dndbots.storage.sql.store import SqlStore

    folder = Path(where)
    made = SqliteDialect(folder, create=create, timeout=timeout)
    return SqlStore(lambda: made, campaign=_ONLY, create=True)


def _postgres(where: str, *, create: bool, timeout: float) -> Store:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    from dndbots.storage.sql.postgres import PostgresDialect
    from dndbots.storage.sql.store import SqlStore

    try:
        url = make_url(where)
    except ArgumentError as exc:
        raise InvalidSetting("campaign", where, reason="is not an address") from exc
    campaign = url.query.get("campaign")
    if not isinstance(campaign, str) or not campaign:
        shown = url.render_as_string(hide_password=True)
        raise InvalidSetting("campaign", shown, reason="does not say which: add ?campaign=<name>")
    address = url.difference_update_query(["campaign"])
    return SqlStore(lambda: PostgresDialect(address, timeout=timeout), campaign=campaign, create=create)
