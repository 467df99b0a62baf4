# SPDX-License-Identifier: Apache-2.0
"""Tests the end of a server."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from http1 import HttpError, request
from server import CLOSE_S, Server
from test_rest_answers import ORDER, assert_echoes


@contextmanager
def closing_in_time() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start <= CLOSE_S


def close(server: Server) -> None:
    with closing_in_time():
        assert server.subject.ask_for("closed", "close").arguments == {}


def test_no_operations(server: Server) -> None:
    for command in ("verify", "run operations=1"):
        assert server.subject.ask_for_error(command) == "unsupported"
    assert server.subject.ask_for_error("open case=serve workers=8 files=x seed=7") == "usage"
    assert server.ask("GET", "/api").status == 200, "the server must continue to respond"


def test_close_and_open_again(server: Server) -> None:
    for _ in range(2):
        with server.connect() as used, server.connect() as new:
            assert used.ask("GET", "/api").status == 200
            close(server)
            assert not server.is_listening()
            assert used.at_end() and new.at_end()
        assert server.subject.ask_for_error("close") == "usage"
        server.open()
        assert server.ask("GET", "/files/64k.bin").status == 200


def test_files_are_not_named(server: Server) -> None:
    close(server)
    assert server.subject.ask_for_error("open case=serve workers=8 seed=7") == "usage"
    server.open()
    assert server.ask("GET", "/api").status == 200


def test_another_case_after_close(server: Server) -> None:
    close(server)
    server.subject.ask_for("opened", "open case=noop seed=7")
    assert server.subject.ask_for("ran", "run operations=3").number("check") == 3
    server.subject.ask_for("closed", "close")


def test_a_request_that_is_under_way_is_answered(patient_server: Server) -> None:
    server, message = patient_server, request("POST", "/api/echo", ORDER)
    with server.connect() as connection:
        connection.send(message[:-100])
        server.wait_until_idle()
        connection.send(message[-100:-99])  # Idle timeouts begin here, and not before the wait.
        closer = threading.Thread(target=close, args=(server,))
        closer.start()
        time.sleep(0.3)
        connection.send(message[-99:])
        assert_echoes(connection.answer(), ORDER)
        assert connection.at_end()
    closer.join()


def test_who_never_ends_a_request_is_not_waited_for(server: Server) -> None:
    message = request("POST", "/api/echo", ORDER)
    with ExitStack() as connections:
        for size in (0, 1, 30, len(message) - 1):
            connections.enter_context(server.connect()).send(message[:size])
        server.wait_until_idle()
        close(server)
        assert not server.is_listening()


def test_no_answer_is_cut_off_under_load(patient_server: Server) -> None:
    """The server may close a connection instead of responding, but not within a response; a client that sends
    more requests may be told that the connection is closing."""
    server, answered, cut_off = patient_server, [], []

    def ask_on() -> None:
        try:
            with server.connect() as connection:
                while True:
                    connection.send(request("GET", "/files/64k.bin"))
                    if not connection.has_more():
                        break
                    try:
                        answered.append(connection.answer().status)
                    except (HttpError, ConnectionError) as error:
                        cut_off.append(error)
                        break
        except ConnectionError:
            pass

    clients = [threading.Thread(target=ask_on) for _ in range(8)]
    for client in clients:
        client.start()
    deadline = time.monotonic() + CLOSE_S
    while len(answered) < 4 * len(clients):
        assert time.monotonic() < deadline, f"only {len(answered)} responses"
        time.sleep(0.02)
    close(server)
    for client in clients:
        client.join()
    assert cut_off == []
    assert set(answered) - {503} == {200}


@pytest.mark.parametrize("end", ["quit", "end_input"])
def test_the_end_of_the_commands_while_it_serves(server: Server, end: str) -> None:
    with server.connect() as connection:
        assert connection.ask("GET", "/api").status == 200
        with closing_in_time():
            assert getattr(server.subject, end)() == 0
        assert connection.at_end()
    assert not server.is_listening()
