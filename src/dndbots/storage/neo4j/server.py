"""A Neo4j server: sessions, and its errors as ours. Nothing above knows the driver."""

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
# Read-only steps of a plan that reach beyond the graph. Of procedures, only those of the database are known.
_BEYOND: Final = ("LoadCSV", "TerminateTransactions")
_CALL: Final = "ProcedureCall"
_PROCEDURES: Final = "db."


class Server:
    """A database of a Neo4j server. A password never appears in an address or an error."""

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
        """Connect with the user and the password of the environment, if it has them."""
        return cls(uri, user=os.environ.get(USERNAME), password=os.environ.get(PASSWORD), **settings)

    def _made(self, uri: str, user: str | None, password: str | None) -> "Driver":
        try:
            import neo4j
        except ImportError as exc:
            reason = "the driver is not installed: pip install 'dndbots[neo4j]'"
            raise GraphUnavailable(self.where, reason=reason) from exc
        # The driver logs every lost connection; the caller gets an error instead.
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
        """Return the rows of a query. The database refuses to write in it."""
        with (
            self._translate_errors(),
            self._driver.session(database=self._database, default_access_mode="READ") as session,
        ):
            return [dict(row) for row in session.run(cypher, values)]

    def ask(self, cypher: str, values: Mapping[str, Any], *, seconds: float) -> Iterator[dict[str, Any]]:
        """Run a user's own query: read only, on the graph and nothing else, with a time limit.

        The database refuses to write in it. But a read-only query may still read files of the server, or end
        other transactions. So the plan of the query is checked first.
        """
        import neo4j

        with (
            self._translate_errors(),
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
        """Run some work in one transaction, all or nothing.

        In a deadlock the database ends one of the two transactions; that one is tried again.
        """
        import neo4j.exceptions as faults

        with self._translate_errors():
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
        """Run a statement in its own transaction; return its rows."""
        return self.write(lambda tx: [row.data() for row in tx.run(cypher, values)])

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        import neo4j.exceptions as faults

        try:
            yield
        except faults.AuthError as exc:
            reason = f"the server refuses the password; set {USERNAME} and {PASSWORD}"
            raise GraphUnavailable(self.where, reason=reason) from exc
        except faults.TransientError as exc:
            reason = f"cannot do it now ({exc.code}); try again, or give Neo4j more memory"
            raise GraphUnavailable(self.where, reason=reason) from exc
        except (faults.ServiceUnavailable, faults.SessionExpired, OSError) as exc:
            reason = "cannot be reached, or went away; start Neo4j there, and try again"
            raise GraphUnavailable(self.where, reason=reason) from exc
        except faults.Neo4jError as exc:
            raise GraphRefused(self.where, reason=str(exc.message or exc.code)) from exc
        except faults.DriverError as exc:
            raise GraphUnavailable(self.where, reason=type(exc).__name__) from exc


def _more_than_reading(kind: str | None, plan: Any) -> str | None:
    """Return what a query would do beside reading the graph, by its plan; None if nothing."""
    if not plan:
        return "the server gives no plan for this one"
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
            return f"it may only call procedures of {_PROCEDURES}"
    return None


def check_address(uri: str) -> str:
    """Check an address; return it as it may be shown. It must not name a user."""
    parts = urlsplit(uri)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise InvalidSetting(
            "neo4j", parts.scheme, reason=f"is not an address of Neo4j; use {_SCHEMES[0]}://host:7687"
        )
    where = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    if parts.username is not None:
        raise InvalidSetting("neo4j", where, reason=f"has a user in it; set {USERNAME} and {PASSWORD}")
    return where
