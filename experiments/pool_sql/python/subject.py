# SPDX-License-Identifier: Apache-2.0
"""Pooled connections in Python: a queue of connections that the SQL experiment's code opens. The argument is the
target: sqlite, postgresql or mariadb."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from queue import LifoQueue
from typing import Any, NamedTuple

from lab_kit import Case, Latencies, Opening, Perform, Work, serve, workers

CONNECTIONS = 4
THREADS_MAX = 256


class Target(NamedTuple):
    """The driver of a database, and the functions that depend on the database."""

    library: str
    opened: Case
    """The case `connect` of the SQL experiment."""
    connector: Callable[[Opening], Callable[[], Any]]
    settings: Callable[[Opening, Any], dict[str, object]]


def sqlite() -> Target:
    from sqlite3_subject import LIBRARY, connector, driver_settings
    from sqlite_cases import path_of, read_settings, sqlite_cases

    return Target(LIBRARY, sqlite_cases(connector, driver_settings)["connect"],
                  lambda opening: connector(path_of(opening), False),
                  lambda opening, connection: read_settings(connection))


def postgresql() -> Target:
    from psycopg import Connection
    from psycopg_subject import LIBRARY, connector, statement_cache
    from server_cases import read_settings, server_cases

    return Target(LIBRARY, server_cases(connector, Connection.transaction, statement_cache)["connect"],
                  lambda opening: connector(opening.text("target"), False),
                  lambda opening, connection: read_settings(connection, opening.text("settings")))


def mariadb() -> Target:
    from mariadb_target import transaction
    from mysqlclient_subject import LIBRARY, connector
    from server_cases import read_settings, server_cases

    return Target(LIBRARY, server_cases(connector, transaction, None)["connect"],
                  lambda opening: connector(opening.text("target"), False),
                  lambda opening, connection: read_settings(connection, opening.text("settings")))


class Pool:
    """A pool of connections, which leases the most recently returned connection first."""

    def __init__(self, connections: list[Any]) -> None:
        self._idle: LifoQueue[Any] = LifoQueue()
        for connection in connections:
            self._idle.put(connection)

    @contextmanager
    def lease(self) -> Iterator[Any]:
        connection = self._idle.get()
        try:
            yield connection
        finally:
            self._idle.put(connection)

    def request(self) -> int:
        """Leases a connection for SELECT 1, and returns the result."""
        with self.lease() as connection, closing(connection.cursor()) as cursor:
            cursor.execute("SELECT 1")
            ((value,),) = cursor.fetchall()
            return value

    def requests(self, operations: range, latencies: Latencies) -> Work:
        """Sends one thread's part of the requests."""
        check = 0
        for _ in operations:
            check += self.request()
            latencies.lap()
        return Work(check, len(operations))


def cases(target: Target) -> dict[str, Case]:
    @contextmanager
    def opened_pool(opening: Opening) -> Iterator[Pool]:
        connect = target.connector(opening)
        with ExitStack() as stack:
            connections = [stack.enter_context(closing(connect())) for _ in range(CONNECTIONS)]
            opening.settings.update(target.settings(opening, connections[0]))
            yield Pool(connections)

    @contextmanager
    def pooled(opening: Opening) -> Iterator[Perform]:
        with opened_pool(opening) as pool:
            def perform(operations: int) -> Work:
                check = 0
                for _ in range(operations):
                    check += pool.request()
                return Work(check, operations)

            yield perform

    @contextmanager
    def shared(opening: Opening) -> Iterator[Perform]:
        threads = opening.integer("threads", 1, THREADS_MAX)
        with opened_pool(opening) as pool, workers([pool.requests] * threads) as perform:
            yield perform

    return {"opened": target.opened, "pooled": pooled, "shared": shared}


def main() -> None:
    target = {"sqlite": sqlite, "postgresql": postgresql, "mariadb": mariadb}[sys.argv[1]]()
    serve("python", f"{target.library}, queue", cases(target))


if __name__ == "__main__":
    main()
