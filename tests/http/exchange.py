# SPDX-License-Identifier: Apache-2.0
"""One request in a table of requests, what it may be answered with, and whether a second one behind it is kept apart from it."""

from dataclasses import dataclass
from typing import Any

import pytest

from client import Answer, Connection, NoAnswer, request
from servers import Server

OK = frozenset({200})
BAD = frozenset({400})

SECOND = request("GET", "/api/hello/Second", "Connection: close")
"""Follows each request on its connection. It is answered after the request, or never: by no means in its place."""


@dataclass(frozen=True)
class Exchange:
    name: str
    rfc: str
    """The section that asks for it: of RFC 9110 (semantics), 9112 (messages), 3986 (URIs), or `experiment`."""
    request: bytes
    promised: frozenset[int]
    """The status that it is answered with by the library in appserver/ada."""
    allowed: frozenset[int] = frozenset()
    """Others that the RFCs let a server answer with."""
    json: Any = None
    """The JSON of a 200."""
    closes: bool = False
    """The connection must end: where the next request begins is not known, or another could see it elsewhere."""
    only_library: bool = False
    """Only the library in appserver/ada is held to it: another server may wait for the rest of what it takes for a large body."""
    method: str = "GET"
    version: str = "1.1"

    def must_hold(self, server: Server) -> None:
        if self.only_library and not server.promises:
            pytest.skip("its limits are its own affair")
        statuses = self.promised if server.promises else self.promised | self.allowed
        with server.connect() as connection:
            connection.send(self.request + SECOND)
            try:
                answer = connection.answer(self.method, self.version)
            except NoAnswer as error:
                raise type(error)(f"{self.rfc}: {sorted(statuses)} is due, {error}") from error
            assert answer.status in statuses, f"{self.rfc}: {sorted(statuses)} is due, {answer}"
            if answer.status == 200 and self.json is not None:
                assert answer.json == self.json, self.rfc
            if self.closes and answer.status >= 400 and server.promises:
                assert answer.closes, f"{self.rfc}: the connection ends, and the answer says so: {answer}"
            if not answer.closes and self.version == "1.1":
                self._second_must_hold(server, connection, answer)
            connection.must_end()

    def _second_must_hold(self, server: Server, connection: Connection, first: Answer) -> None:
        try:
            answer = connection.answer()
        except NoAnswer:
            if server.promises or first.status < 400:
                raise
            return  # it closes after an error, and does not say so
        assert answer.status == 200 and answer.json == {"greeting": "Hello Second!"}, (
            f"{self.rfc}: the second request is answered with {answer}")


def table(*exchanges: Exchange) -> pytest.MarkDecorator:
    """Makes a test of each."""
    names = [exchange.name for exchange in exchanges]
    assert len(set(names)) == len(names), "two have the same name"
    return pytest.mark.parametrize("exchange", exchanges, ids=names)
