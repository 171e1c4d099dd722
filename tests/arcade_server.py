"""ArcadeDB's embedded server as a program of its own: python tests/arcade_server.py FOLDER PORT HTTP_PORT.

It speaks Bolt, and stands in for Neo4j where only PyPI can be reached: pip install arcadedb-embedded.
"""

import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from threading import Event

DATABASE, USER, PASSWORD = "neo4j", "root", "only-on-loopback"
_BOLT = "Bolt:com.arcadedb.bolt.BoltProtocolPlugin"


def is_installed() -> bool:
    return find_spec("arcadedb_embedded") is not None


def serve(folder: str, port: int, http_port: int) -> None:
    """Serves until it is told to stop."""
    import arcadedb_embedded  # type: ignore[import-not-found,unused-ignore]

    stopped = Event()
    settings = {"http_port": http_port, "bolt_port": port, "server_plugins": _BOLT}
    server = arcadedb_embedded.create_server(folder, PASSWORD, settings)
    server.start()
    if not Path(folder, "databases", DATABASE).exists():
        server.create_database(DATABASE)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    stopped.wait()
    server.stop()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
