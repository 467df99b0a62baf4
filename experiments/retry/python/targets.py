# SPDX-License-Identifier: Apache-2.0
"""What differs between the databases: how to connect with the isolation level READ COMMITTED, what begins and
ends a transaction, and which errors are faults that pass."""

import logging
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from server_cases import Transaction


class Fault(Enum):
    """A reason to try again. The values are the names of the experiment's metrics."""

    STALE = "stale"
    DEADLOCK = "deadlock"
    DISCONNECTED = "disconnected"


class Target(NamedTuple):
    library: str
    connector: Callable[[str], Callable[[], Any]]
    """For the target's URI: what connects."""
    transaction: Transaction
    fault: Callable[[BaseException | None], Fault | None]
    """The fault that an error of the driver tells of; None if the same call would fail again."""


def postgresql() -> Target:
    from psycopg import Connection, Error, IsolationLevel, OperationalError
    from psycopg_subject import LIBRARY, connector

    # It warns of each rollback over a lost connection, which is counted instead.
    logging.getLogger("psycopg").setLevel(logging.ERROR)

    def read_committed(target: str) -> Callable[[], Connection]:
        new_connection = connector(target, True)

        def connect() -> Connection:
            connection = new_connection()
            connection.isolation_level = IsolationLevel.READ_COMMITTED
            return connection

        return connect

    def fault(error: BaseException | None) -> Fault | None:
        if not isinstance(error, Error):
            return None
        state = error.sqlstate
        if state is None:  # it is libpq's own: of these, errors of operation tell of a lost connection
            return Fault.DISCONNECTED if isinstance(error, OperationalError) else None
        if state.startswith("40"):
            return Fault.DEADLOCK
        return Fault.DISCONNECTED if state.startswith(("08", "57P")) else None

    return Target(LIBRARY, read_committed, Connection.transaction, fault)


def mariadb() -> Target:
    from mariadb_target import transaction
    from MySQLdb import Connection, Error
    from MySQLdb.constants import CR, ER
    from mysqlclient_subject import LIBRARY, connector

    connection_killed = 1927  # MariaDB's own ER_CONNECTION_KILLED
    deadlocks = {ER.LOCK_DEADLOCK, ER.LOCK_WAIT_TIMEOUT}
    ended = {ER.SERVER_SHUTDOWN, ER.ABORTING_CONNECTION, connection_killed}

    def read_committed(target: str) -> Callable[[], Connection]:
        new_connection = connector(target, False)

        def connect() -> Connection:
            connection = new_connection()
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            return connection

        return connect

    def fault(error: BaseException | None) -> Fault | None:
        if not isinstance(error, Error):
            return None
        code = error.args[0]
        if code in deadlocks:
            return Fault.DEADLOCK
        # After an error of the client's library the connection is of no use.
        is_lost = code in ended or CR.MIN_ERROR <= code <= CR.MAX_ERROR
        return Fault.DISCONNECTED if is_lost else None

    return Target(LIBRARY, read_committed, transaction, fault)


TARGETS: dict[str, Callable[[], Target]] = {"postgresql": postgresql, "mariadb": mariadb}
