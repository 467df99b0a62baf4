# SPDX-License-Identifier: Apache-2.0
"""A proxy of a database's server that loses answers to COMMIT: the transaction is committed, and its
connection closed before the client knows."""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

BYTES = 65_536
COMMITS = (b"COMMIT\0", b"COMMIT")
"""As PostgreSQL's clients send it, and as MariaDB's do."""


class Proxy:
    def __init__(self, server_port: int, lost: float) -> None:
        self._server = ("127.0.0.1", server_port)
        self._share = lost
        self._random = random.Random(7)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.lost = 0
        """Answers so far."""

    def accept(self) -> None:
        """Until it is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                _Relay(self, client, socket.create_connection(self._server)).start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def loses(self, request: bytes) -> bool:
        """Whether the answer to what a client sent is to be lost."""
        return request.endswith(COMMITS) and self._random.random() < self._share


class _Relay:
    """Of one connection: a client waits for each answer before it sends the next request."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._is_losing = False

    def start(self) -> None:
        for pump in (self._requests, self._answers):
            threading.Thread(target=pump, daemon=True).start()

    def _requests(self) -> None:
        with suppress(OSError):
            while request := self._client.recv(BYTES):
                self._is_losing = self._proxy.loses(request)
                self._server.sendall(request)
        self._end()

    def _answers(self) -> None:
        with suppress(OSError):
            while (answer := self._server.recv(BYTES)) and not self._is_losing:
                self._client.sendall(answer)
        self._proxy.lost += self._is_losing
        self._end()

    def _end(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def losing_answers(server_port: int, lost: float) -> Iterator[Proxy]:
    """Of all COMMITs, this share."""
    proxy = Proxy(server_port, lost)
    threading.Thread(target=proxy.accept, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.close()
