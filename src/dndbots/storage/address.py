"""Addresses of campaigns: a folder for SQLite, a URL for PostgreSQL, and the store that each opens."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dndbots.errors import InvalidSetting
from dndbots.storage.ports import Store

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

    from dndbots.storage.sql.postgres import PostgresDialect

TIMEOUT = 30.0
# A folder has one campaign, and may be renamed.
_ONLY = "campaign"
_MOST = 1_000


def open_store(where: str | Path, *, create: bool = True, timeout: float = TIMEOUT) -> Store:
    """Open the store at an address. `timeout` is how many seconds to wait for other writers."""
    if isinstance(where, str) and is_server(where):
        return _postgres(where, create=create, timeout=timeout)
    if isinstance(where, str) and "://" in where:
        raise InvalidSetting("campaign", where, reason="is not a folder or a postgresql:// address")
    from dndbots.storage.sql.sqlite import SqliteDialect
    from dndbots.storage.sql.store import SqlStore

    folder = Path(where)
    made = SqliteDialect(folder, create=create, timeout=timeout)
    return SqlStore(lambda: made, campaign=_ONLY, create=True)


class Address(NamedTuple):
    """An address of a server: its database, the campaign (None for none), and the size of the pool."""

    server: "URL"
    campaign: str | None
    pool: int | None

    def of(self, campaign: str) -> str:
        """Return the address of a campaign in the same database."""
        more = {"campaign": campaign} | ({} if self.pool is None else {"pool": str(self.pool)})
        return self.server.update_query_dict(more).render_as_string(hide_password=False)

    @property
    def name(self) -> str:
        """The address without user, password and pool: the same for everybody who opens this campaign."""
        from sqlalchemy.engine import URL

        query = {"campaign": self.campaign or "", "host": self.server.query.get("host")}
        return URL.create(
            "postgresql",
            host=self.server.host,
            port=self.server.port,
            database=self.server.database,
            query={key: value for key, value in query.items() if value is not None},
        ).render_as_string()

    def dialect(self, *, timeout: float) -> "PostgresDialect":
        from dndbots.storage.sql.postgres import POOL, PostgresDialect

        return PostgresDialect(self.server, timeout=timeout, pool=self.pool or POOL)


def name_of(where: str | Path) -> str:
    """Return the name of a campaign among others: its address without user and password, or its full path."""
    if isinstance(where, str) and is_server(where):
        return address_of(where).name
    return str(Path(where).resolve())


def is_server(where: object) -> bool:
    """Return whether an address is one of PostgreSQL."""
    return isinstance(where, str) and where.startswith(("postgresql://", "postgres://"))


def address_of(where: str) -> Address:
    """Parse an address of PostgreSQL."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as exc:
        # An address that cannot be parsed is not shown: a password may be anywhere in it.
        raise InvalidSetting("campaign", "postgresql://…", reason="is not a valid address") from exc
    campaign, pool = url.query.get("campaign"), url.query.get("pool")
    if pool is not None and not (isinstance(pool, str) and pool.isdecimal() and 1 <= int(pool) <= _MOST):
        raise InvalidSetting("pool", pool, reason=f"is not a number of connections from 1 to {_MOST}")
    return Address(
        server=url.difference_update_query(["campaign", "pool"]),
        campaign=campaign if isinstance(campaign, str) and campaign else None,
        pool=None if pool is None else int(str(pool)),
    )


def _postgres(where: str, *, create: bool, timeout: float) -> Store:
    from dndbots.storage.sql.store import SqlStore

    address = address_of(where)
    if address.campaign is None:
        shown = address.server.render_as_string(hide_password=True)
        raise InvalidSetting("campaign", shown, reason="names no campaign; add ?campaign=<name>")
    return SqlStore(lambda: address.dialect(timeout=timeout), campaign=address.campaign, create=create)
