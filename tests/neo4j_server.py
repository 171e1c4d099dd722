"""A Neo4j server for the tests: started when one is asked for, gone with everything it made afterwards.

It listens on a port of loopback that the system chose. `make neo4j` gets its jars; they take Java 17.
NEO4J_URI names a server that runs already; the tests then use campaigns of their own there, and never stop
it. Where neither can be had, ArcadeDB's embedded server stands in, if it is installed; what it does not
promise is not asked of it, and the tests say so.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests import arcade_server
from tests.waiting import HANG

from dndbots.errors import GraphUnavailable
from dndbots.storage.neo4j.server import PASSWORD, USERNAME, Server

EXISTING = "NEO4J_URI"
_ROOT = Path(__file__).parent.parent
_ARCADE = "arcadedb-embedded"
_MAIN = "org.neo4j.server.CommunityEntryPoint"
# Ends the server and removes its folder when the tests' end of the pipe is closed: by them, or by their
# death. The server is started anew now and then, so its number is read from a file.
_GUARD = 'cat >/dev/null; kill -9 "$(cat "$1/pid")" 2>/dev/null; rm -rf "$1"'
# A server that lives for minutes does not get back what the better compiler costs.
_JAVA = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SETTINGS = {
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "server.bolt.enabled": "true",
    "dbms.security.auth_enabled": "false",
    "dbms.usage_report.enabled": "false",
    "server.memory.pagecache.size": "64m",
    "db.tx_log.rotation.size": "16m",
    "db.tx_log.preallocate": "false",
}


class NoNeo4j(Exception):
    """No server can be had here; the message says what was looked for."""


def found() -> str:
    """Which server the tests use, or why none."""
    if os.environ.get(EXISTING):
        return f"the Neo4j at {EXISTING}"
    try:
        jars = _jars()
    except NoNeo4j as exc:
        return f"none ({exc})"
    if jars is None:
        return f"ArcadeDB {version(_ARCADE)} in place of Neo4j, started by the tests"
    return f"Neo4j {jars.name.partition('-')[2]} Community, started by the tests"


class Neo4jServer:
    """`close` ends it, and removes what it held."""

    def __init__(self) -> None:
        self._numbers, self._run = count(1), uuid4().hex[:8]
        given = os.environ.get(EXISTING)
        self.is_ours, self.is_neo4j = given is None, True
        self._server: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        if given is not None:
            self.uri = given
            return
        jars = _jars()
        self._folder = Path(tempfile.mkdtemp(prefix="dndbots-neo4j-"))
        port = _free_port()
        self.uri = f"bolt://127.0.0.1:{port}"
        if jars is None:
            self.is_neo4j = False
            ports = [str(port), str(_free_port())]
            self._command = [sys.executable, arcade_server.__file__, str(self._folder / "data"), *ports]
            os.environ |= {USERNAME: arcade_server.USER, PASSWORD: arcade_server.PASSWORD}
            return
        self._command = [
            *(_java(), *_JAVA),
            *("-cp", f"{jars}/*", _MAIN),
            *(f"--home-dir={self._folder}", f"--config-dir={self._folder / 'conf'}"),
        ]
        (self._folder / "conf").mkdir()
        settings = {**_SETTINGS, "server.bolt.listen_address": f"127.0.0.1:{port}"}
        (self._folder / "conf" / "neo4j.conf").write_text(
            "".join(f"{name}={value}\n" for name, value in settings.items())
        )

    def must_be_neo4j(self, why: str) -> None:
        """Skips a test of what only Neo4j itself promises."""
        if not self.is_neo4j:
            pytest.skip(f"ArcadeDB stands in for Neo4j: {why}")

    def name(self, campaign: str = "campaign") -> str:
        """A name under which nothing is projected yet."""
        return f"{campaign} {self._run} {next(self._numbers)}"

    def start(self) -> None:
        if not self.is_ours or self.is_running:
            return
        if self._guard is None:
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "guard", str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt of the tests must not end it first
            )
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                self._command,
                cwd=self._folder,  # what it writes beside its data goes with it
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # an interrupt of the tests is not one of the server
            )
        (self._folder / "pid").write_text(str(self._server.pid))
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + HANG
        server = self.server()
        try:
            while True:
                try:
                    server.read("RETURN 1 AS one")
                except GraphUnavailable:
                    if time.monotonic() > until or not self.is_running:
                        log = (self._folder / "log").read_text(errors="replace")[-2_000:]
                        raise RuntimeError(f"Neo4j does not start: {log}") from None
                    time.sleep(0.2)
                else:
                    return
        finally:
            server.close()

    def server(self) -> Server:
        return Server(self.uri, **self.login)

    @property
    def login(self) -> dict[str, Any]:
        return {"user": os.environ.get(USERNAME), "password": os.environ.get(PASSWORD)}

    @property
    def is_running(self) -> bool:
        return not self.is_ours or (self._server is not None and self._server.poll() is None)

    def kill(self) -> None:
        """As a crash would: nobody is told, nothing is flushed."""
        assert self._server is not None
        self._server.kill()
        self._server.wait()

    def stop(self) -> None:
        """As an administrator would."""
        assert self._server is not None
        self._server.terminate()
        self._server.wait()

    def close(self) -> None:
        if self.is_ours and self._guard is not None:
            if self._server is not None and self.is_running:
                self.kill()
            self._guard.communicate()
            shutil.rmtree(self._folder, ignore_errors=True)


def _java() -> str:
    return shutil.which("java") or ""


def _jars() -> Path | None:
    """Where those of Neo4j are; None where ArcadeDB has to do."""
    for folder in sorted((_ROOT / ".neo4j").glob("lib-*")) if _java() else ():
        return folder
    if arcade_server.is_installed():
        return None
    missing = "`make neo4j` has not got a server" if _java() else "no Java"
    raise NoNeo4j(f"{missing}, {EXISTING} names none, and {_ARCADE} is not installed")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
