# SPDX-License-Identifier: Apache-2.0
"""A row in a table of requests: the request, its possible responses, and whether a following request is kept
apart from it."""

from dataclasses import dataclass
from typing import Any

import pytest

from client import Answer, Connection, NoAnswer, request
from servers import Server

OK = frozenset({200})
BAD = frozenset({400})

SECOND = request("GET", "/api/hello/Second", "Connection: close")
"""Follows each request on its connection. The server may respond to it after the request or never, but not instead of
the request."""


@dataclass(frozen=True)
class Exchange:
    name: str
    rfc: str
    """The section that requires the response: of RFC 9110 (semantics), 9112 (messages), 3986 (URIs), or `experiment`."""
    request: bytes
    promised: frozenset[int]
    """The status of the response from the library in appserver/ada."""
    allowed: frozenset[int] = frozenset()
    """Other statuses that the RFCs allow."""
    json: Any = None
    """The JSON content of a 200."""
    closes: bool = False
    """The connection must end: the beginning of the next request is unknown, or another program could see it
    elsewhere."""
    only_library: bool = False
    """Required only of the library in appserver/ada: another server may wait for the rest of a body that it considers
    large."""
    method: str = "GET"
    version: str = "1.1"

    def must_hold(self, server: Server) -> None:
        if self.only_library and not server.promises:
            pytest.skip("the RFCs do not require this limit")
        statuses = self.promised if server.promises else self.promised | self.allowed
        with server.connect() as connection:
            connection.send(self.request + SECOND)
            try:
                answer = connection.answer(self.method, self.version)
            except NoAnswer as error:
                raise type(error)(f"{self.rfc}: expected status {sorted(statuses)}: {error}") from error
            assert answer.status in statuses, f"{self.rfc}: expected status {sorted(statuses)}, got {answer}"
            if answer.status == 200 and self.json is not None:
                assert answer.json == self.json, self.rfc
            if self.closes and answer.status >= 400 and server.promises:
                assert answer.closes, f"{self.rfc}: expected a response that announces the end of the connection, got {answer}"
            if not answer.closes and self.version == "1.1":
                self._second_must_hold(server, connection, answer)
            connection.must_end()

    def _second_must_hold(self, server: Server, connection: Connection, first: Answer) -> None:
        try:
            answer = connection.answer()
        except NoAnswer:
            if server.promises or first.status < 400:
                raise
            return  # the server closes after an error without announcing it
        assert answer.status == 200 and answer.json == {"greeting": "Hello Second!"}, (
            f"{self.rfc}: the response to the second request is {answer}")


def table(*exchanges: Exchange) -> pytest.MarkDecorator:
    """Creates a test for each exchange."""
    names = [exchange.name for exchange in exchanges]
    assert len(set(names)) == len(names), "two exchanges have the same name"
    return pytest.mark.parametrize("exchange", exchanges, ids=names)
