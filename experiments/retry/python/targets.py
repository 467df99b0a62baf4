# SPDX-License-Identifier: Apache-2.0
"""The differences between the databases: connecting with the isolation level READ COMMITTED or a higher one,
beginning and ending transactions, and classifying errors as transient."""

import logging
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from lab_kit import Opening
from server_cases import Transaction, read_settings


class Fault(Enum):
    """A reason to retry. The values are the names of the experiment's metrics."""

    STALE = "stale"
    DEADLOCK = "deadlock"
    DISCONNECTED = "disconnected"


Settings = Callable[[Any, Opening], dict[str, object]]
"""Reads settings back, given a connection and the case."""


class Target(NamedTuple):
    library: str
    placeholder: str
    """The placeholder of a parameter in a statement."""
    connector: Callable[[Opening], Callable[[], Any]]
    """Returns a function that connects, given a case."""
    transaction: Transaction
    settings: Settings
    fault: Callable[[BaseException | None], Fault | None]
    """Returns the fault for an error of the driver, or None if the same call would fail again."""


BUSY_TIMEOUT_S = 1
"""The lock timeout of a statement."""


def sqlite() -> Target:
    import sqlite3

    from sqlite3_subject import LIBRARY, connector
    from sqlite_cases import path_of, read_settings as read_pragmas, transaction

    def serializable(opening: Opening) -> Callable[[], sqlite3.Connection]:
        return partial(connector(path_of(opening), True), timeout=BUSY_TIMEOUT_S)

    def settings(connection: sqlite3.Connection, _: Opening) -> dict[str, object]:
        ((busy_timeout,),) = connection.execute("PRAGMA busy_timeout")
        return {**read_pragmas(connection), "busy_timeout": busy_timeout}

    def fault(error: BaseException | None) -> Fault | None:
        # May be extended, such as SQLITE_BUSY_SNAPSHOT. Only the library's own errors have a code.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
        return Fault.DEADLOCK if code & 0xFF == sqlite3.SQLITE_BUSY else None

    return Target(LIBRARY, "?", serializable,
                  lambda connection: transaction(connection, connection.cursor()), settings, fault)


def postgresql() -> Target:
    from psycopg import Connection, Error, IsolationLevel, OperationalError
    from psycopg_subject import LIBRARY, connector

    # psycopg warns of each rollback on a lost connection, which is counted instead.
    logging.getLogger("psycopg").setLevel(logging.ERROR)

    def read_committed(opening: Opening) -> Callable[[], Connection]:
        new_connection = connector(opening.text("target"), True)

        def connect() -> Connection:
            connection = new_connection()
            connection.isolation_level = IsolationLevel.READ_COMMITTED
            return connection

        return connect

    def fault(error: BaseException | None) -> Fault | None:
        if not isinstance(error, Error):
            return None
        state = error.sqlstate
        if state is None:  # an error of libpq itself: an OperationalError means a lost connection
            return Fault.DISCONNECTED if isinstance(error, OperationalError) else None
        if state.startswith("40"):
            return Fault.DEADLOCK
        return Fault.DISCONNECTED if state.startswith(("08", "57P")) else None

    return Target(LIBRARY, "%s", read_committed, Connection.transaction,
                  server_settings(Connection.transaction), fault)


def mariadb() -> Target:
    from mariadb_target import transaction
    from MySQLdb import Connection, Error
    from MySQLdb.constants import CR, ER
    from mysqlclient_subject import LIBRARY, connector

    connection_killed = 1927  # MariaDB's own ER_CONNECTION_KILLED
    deadlocks = {ER.CHECKREAD, ER.LOCK_DEADLOCK, ER.LOCK_WAIT_TIMEOUT}
    ended = {ER.SERVER_SHUTDOWN, ER.ABORTING_CONNECTION, connection_killed}

    def read_committed(opening: Opening) -> Callable[[], Connection]:
        new_connection = connector(opening.text("target"), False)

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
        # After an error of the client library, the connection is unusable.
        is_lost = code in ended or CR.MIN_ERROR <= code <= CR.MAX_ERROR
        return Fault.DISCONNECTED if is_lost else None

    return Target(LIBRARY, "%s", read_committed, transaction, server_settings(transaction), fault)


def server_settings(transaction: Transaction) -> Settings:
    """Reads the settings in a transaction, because the isolation level is one of them."""

    def settings(connection: Any, opening: Opening) -> dict[str, object]:
        with transaction(connection):
            return read_settings(connection, opening.text("settings"))

    return settings


TARGETS: dict[str, Callable[[], Target]] = {
    "sqlite": sqlite, "postgresql": postgresql, "mariadb": mariadb}
