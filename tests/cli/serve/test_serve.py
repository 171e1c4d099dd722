"""`dndbots serve` before its first page: the socket behind the links that it prints."""

import socket

import pytest
from tests.waiting import HANG

from dndbots.cli.failures import Refusal
from dndbots.cli.serve import serve


def test_a_link_can_be_opened_before_the_server_runs() -> None:
    """Connections wait from the moment the port is known, so that no link is printed too early."""
    with serve._bind("127.0.0.1", 0) as bound, socket.create_connection(bound.getsockname(), HANG):
        pass


def test_a_port_that_is_taken_is_refused_with_a_remedy() -> None:
    with serve._bind("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        with pytest.raises(Refusal, match=f"--port {port}: .*; choose another one"):
            serve._bind("127.0.0.1", port)
