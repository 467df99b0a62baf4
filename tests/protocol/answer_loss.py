# SPDX-License-Identifier: Apache-2.0
"""A proxy for a database server that loses responses to COMMIT: the transaction is committed, but the client does not
know it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count

POSTGRESQL_COMMITTED = b"C\0\0\0\x0bCOMMIT\0"
"""CommandComplete (PostgreSQL's manual, 55.7)."""

MARIADB_COMMITS = (b"\x03COMMIT", b"; COMMIT; END")
"""COM_QUERY (MariaDB's client/server protocol), and the end of a block."""


@contextmanager
def losing_answers(port: int, every: int) -> Iterator[int]:
    """Runs a proxy for a server on 127.0.0.1 and returns its port. The proxy drops every nth response to COMMIT, counted
    over all connections, and closes the connection."""
    commits = count(1)

    def serve(client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", port))
        for connection in client, server:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        committing = threading.Event()
        threading.Thread(target=pass_requests, args=(client, server, committing), daemon=True).start()
        with client, server, suppress(OSError):
            while answer := server.recv(65_536):
                if committing.is_set() or POSTGRESQL_COMMITTED in answer:
                    committing.clear()
                    if next(commits) % every == 0:
                        break
                client.sendall(answer)
            client.shutdown(socket.SHUT_RDWR)  # close() would wait for the other thread.

    def accept(listener: socket.socket) -> None:
        with suppress(OSError):  # The listener was closed.
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def pass_requests(client: socket.socket, server: socket.socket, committing: threading.Event) -> None:
    with suppress(OSError):
        while request := client.recv(65_536):
            if any(commit in request for commit in MARIADB_COMMITS):
                committing.set()
            server.sendall(request)
        server.shutdown(socket.SHUT_WR)
