"""A Neo4j server: sessions, and its errors in our words. Nothing above knows the driver."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

from dndbots.errors import GraphRefused, GraphUnavailable, InvalidSetting

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction

Answer = TypeVar("Answer")
USERNAME: Final = "NEO4J_USERNAME"
PASSWORD: Final = "NEO4J_PASSWORD"  # noqa: S105 - the name of the variable
_SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_PATIENCE: Final = 5.0
_ATTEMPTS: Final = 5
_DEADLOCK: Final = "Neo.TransientError.Transaction.DeadlockDetected"
# Steps of a plan that only read, but not the graph. What other procedures do, nobody knows.
_BEYOND: Final = ("LoadCSV", "TerminateTransactions")
_CALL: Final = "ProcedureCall"
_PROCEDURES: Final = "db."


class Server:
    """One database of a server. A password never stands in an address, nor in an error."""

    def __init__(
        self,
        uri: str,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        timeout: float = _PATIENCE,
    ) -> None:
        self.where = check_address(uri)
        self._database, self._timeout = database, timeout
        self._driver = self._made(uri, user, password)

    @classmethod
    def from_environment(cls, uri: str, **settings: Any) -> Self:
        """With the user and the password that the environment has, if it has any."""
        return cls(uri, user=os.environ.get(USERNAME), password=os.environ.get(PASSWORD), **settings)

    def _made(self, uri: str, user: str | None, password: str | None) -> "Driver":
        try:
            import neo4j
        except ImportError as exc:
            reason = "the driver is not installed: pip install 'dndbots[neo4j]'"
            raise GraphUnavailable(self.where, reason=reason) from exc
        # The driver tells of every lost connection by itself; whoever calls is told by an error.
        logging.getLogger("neo4j").setLevel(logging.CRITICAL)
        auth = None if password is None else (user or "neo4j", password)
        try:
            return neo4j.GraphDatabase.driver(
                uri,
                auth=auth,
                connection_timeout=self._timeout,
                max_transaction_retry_time=0,
                notifications_min_severity="OFF",
            )
        except (ValueError, neo4j.exceptions.DriverError) as exc:
            raise InvalidSetting(
                "neo4j", self.where, reason="is not an address such as bolt://host:7687"
            ) from exc

    def close(self) -> None:
        self._driver.close()

    def read(self, cypher: str, /, **values: Any) -> list[dict[str, Any]]:
        """The rows of one query. The database itself refuses to write in it."""
        with (
            self._told(),
            self._driver.session(database=self._database, default_access_mode="READ") as session,
        ):
            return [dict(row) for row in session.run(cypher, values)]

    def ask(self, cypher: str, values: Mapping[str, Any], *, seconds: float) -> Iterator[dict[str, Any]]:
        """Somebody's own query: of the graph and nothing else, read only, and ended when it takes too long.

        The database refuses to write in it. But what only reads may read the server's own files, or end what
        others do there: so it is asked first what the query would do.
        """
        import neo4j

        with (
            self._told(),
            self._driver.session(database=self._database, default_access_mode="READ") as session,
        ):
            asked = neo4j.Query(f"EXPLAIN {cypher}", timeout=seconds)
            summary = session.run(asked, dict(values)).consume()
            problem = _more_than_reading(summary.query_type, summary.plan)
            if problem is not None:
                raise GraphRefused(self.where, reason=f"a query may only read the graph: {problem}")
            for row in session.run(neo4j.Query(cypher, timeout=seconds), dict(values)):
                yield row.data()

    def write(self, work: "Callable[[ManagedTransaction], Answer]") -> Answer:
        """Runs some work in one transaction: all of it, or nothing.

        Of two who wait for one another the database ends one. It is nobody's fault, and that one tries again.
        """
        import neo4j.exceptions as faults

        with self._told():
            for _ in range(_ATTEMPTS - 1):
                try:
                    return self._written(work)
                except faults.TransientError as exc:
                    if exc.code != _DEADLOCK:
                        raise
            return self._written(work)

    def _written(self, work: "Callable[[ManagedTransaction], Answer]") -> Answer:
        with self._driver.session(database=self._database) as session:
            return session.execute_write(work)

    def change(self, cypher: str, /, **values: Any) -> list[dict[str, Any]]:
        """One statement in a transaction of its own."""
        return self.write(lambda tx: [row.data() for row in tx.run(cypher, values)])

    @contextmanager
    def _told(self) -> Iterator[None]:
        import neo4j.exceptions as faults

        try:
            yield
        except faults.AuthError as exc:
            reason = f"the server refuses the password; set {USERNAME} and {PASSWORD}"
            raise GraphUnavailable(self.where, reason=reason) from exc
        except faults.TransientError as exc:
            reason = f"cannot do it now ({exc.code}); run the same again, or give Neo4j more memory"
            raise GraphUnavailable(self.where, reason=reason) from exc
        except (faults.ServiceUnavailable, faults.SessionExpired, OSError) as exc:
            reason = "cannot be reached, or went away; start Neo4j there, and run the same again"
            raise GraphUnavailable(self.where, reason=reason) from exc
        except faults.Neo4jError as exc:
            raise GraphRefused(self.where, reason=str(exc.message or exc.code)) from exc
        except faults.DriverError as exc:
            raise GraphUnavailable(self.where, reason=type(exc).__name__) from exc


def _more_than_reading(kind: str | None, plan: Any) -> str | None:
    """What a query would do beside reading the graph, by the database's own plan of it."""
    if not plan:
        return "the server does not say what this one would do"
    if kind != "r":
        return "this one would change something"
    waiting = [plan]
    while waiting:
        step = waiting.pop()
        waiting += step.get("children", ())
        name = step["operatorType"].partition("@")[0]
        if name in _BEYOND:
            return f"{name} does more"
        if name == _CALL and not step["args"].get("Details", "").startswith(_PROCEDURES):
            return f"of procedures, only those of {_PROCEDURES} may be called"
    return None


def check_address(uri: str) -> str:
    """An address as it may be shown. It names no user: those are the environment's."""
    parts = urlsplit(uri)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise InvalidSetting(
            "neo4j", parts.scheme, reason=f"is not an address: give one with {_SCHEMES[0]}://"
        )
    where = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    if parts.username is not None:
        raise InvalidSetting("neo4j", where, reason=f"has a user in it; set {USERNAME} and {PASSWORD}")
    return where
