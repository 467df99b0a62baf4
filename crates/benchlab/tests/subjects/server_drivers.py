# SPDX-License-Identifier: Apache-2.0
"""A common interface to PostgreSQL (psycopg) and MariaDB (PyMySQL). PyMySQL does not support server-side
prepared statements, so this module implements that part of the protocol."""

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from glob import glob
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

Rows = list[tuple]


class Session:
    """A connection in autocommit mode, without TLS."""

    harmless_set: str
    prepare_by_name: str
    execute_by_name: str
    insert_once: str
    shadow: str

    def __init__(self, target: str, first: Sequence[str], options: Mapping[str, Any]) -> None:
        self._made_from = target, first, options
        self._connect(target, options)
        for statement in first:
            self.run(statement)

    def another(self) -> "Session":
        """Opens another session with the same arguments."""
        return type(self)(*self._made_from)

    def run(self, text: str) -> Rows:
        """Sends a statement as text."""
        return self.statement(text, False)()

    def first_row(self, query: str) -> dict[str, str]:
        """Returns the values of the first row of a query, by column name."""
        raise NotImplementedError

    def statement(self, sql: str, prepared: bool) -> Callable[..., Rows]:
        """Returns a function that executes a statement, in which `{}` represents each parameter. The statement is
        prepared if `prepared` is true, or else sent as text each time."""
        raise NotImplementedError

    def ping(self) -> None:
        """Raises an error if the server does not respond."""
        raise NotImplementedError

    def clock(self) -> Callable[[], int]:
        """Returns a function that reads the CPU time, in ns, of the server's process or thread for this session."""
        number = self._served_by()
        (status,) = glob(f"/proc/[0-9]*/task/{number}/schedstat")
        return lambda: int(Path(status).read_text().split()[0])

    def close(self) -> None:
        self._connection.close()

    def _connect(self, target: str, options: Mapping[str, Any]) -> None:
        raise NotImplementedError


class Postgresql(Session):
    burn = "SELECT count(*) FROM generate_series(1, 40000)"
    sleep = "SELECT pg_sleep(0.005)"
    harmless_set = "SET lock_timeout = 0"
    prepare_by_name = "PREPARE p (int) AS SELECT value FROM test_simple WHERE id = $1"
    execute_by_name = "EXECUTE p ({})"
    insert_once = "INSERT INTO test_simple VALUES (1, {}) ON CONFLICT DO NOTHING"
    shadow = "CREATE TEMPORARY TABLE test_simple (id serial, value integer)"

    def _connect(self, target: str, options: Mapping[str, Any]) -> None:
        import psycopg

        options = {"sslmode": "disable", **options}
        self._connection = psycopg.connect(target, autocommit=True, **options)

    def statement(self, sql: str, prepared: bool) -> Callable[..., Rows]:
        sql = sql.format(*["%s"] * sql.count("{}"))

        def execute(*values: int) -> Rows:
            cursor = self._connection.execute(sql, values or None, prepare=prepared)
            return cursor.fetchall() if cursor.description else []

        return execute

    def first_row(self, query: str) -> dict[str, str]:
        cursor = self._connection.execute(query)
        return dict(zip((column.name for column in cursor.description), cursor.fetchone()))

    def ping(self) -> None:
        self.run("SELECT 1")

    def _served_by(self) -> int:
        return self._connection.info.backend_pid


class Mariadb(Session):
    burn = "SELECT BENCHMARK(15000, MD5('benchlab'))"
    sleep = "SELECT SLEEP(0.005)"
    harmless_set = "SET @a = 1"
    prepare_by_name = "PREPARE p FROM 'SELECT value FROM test_simple WHERE id = ?'"
    execute_by_name = "EXECUTE p USING {}"
    insert_once = "INSERT IGNORE INTO test_simple VALUES (1, {})"
    shadow = "CREATE TEMPORARY TABLE test_simple (id integer AUTO_INCREMENT PRIMARY KEY, value integer)"

    def _connect(self, target: str, options: Mapping[str, Any]) -> None:
        import pymysql

        url = urlsplit(target)
        socket = parse_qs(url.query).get("socket", [None])[0]
        self._connection = pymysql.connect(
            host=url.hostname, port=url.port or 0, user=unquote(url.username),
            password=unquote(url.password), database=unquote(url.path[1:]), unix_socket=socket,
            charset="utf8mb4", autocommit=True, **{"ssl_disabled": True, **options})

    def statement(self, sql: str, prepared: bool) -> Callable[..., Rows]:
        parameters = sql.count("{}")
        if prepared:
            return Prepared(self._connection, sql.format(*"?" * parameters))
        sql = sql.format(*["%s"] * parameters)
        cursor = self._connection.cursor()

        def execute(*values: int) -> Rows:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall())

        return execute

    def first_row(self, query: str) -> dict[str, str]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            return dict(zip((column[0] for column in cursor.description), cursor.fetchone()))

    def ping(self) -> None:
        self._connection.ping(reconnect=False)

    def _served_by(self) -> int:
        ((thread,),) = self.run("SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()")
        return thread


class Prepared:
    """A statement prepared on the server, with integer parameters and columns."""

    def __init__(self, connection: Any, sql: str) -> None:
        from pymysql.constants import COMMAND

        self._connection, self._command = connection, COMMAND.COM_STMT_EXECUTE
        connection._execute_command(COMMAND.COM_STMT_PREPARE, sql)
        answer = connection._read_packet().read(9)
        _, self._id, columns, parameters = struct.unpack("<BIHH", answer)
        for described in (parameters, columns):
            self._skip(described)

    def __call__(self, *values: int) -> Rows:
        call = struct.pack("<IBI", self._id, 0, 1)
        if values:
            # The NULL bitmap, which is all zeros, and the types. Type 8 is BIGINT.
            call += bytes((len(values) + 7) // 8) + b"\1" + b"\x08\0" * len(values)
            call += struct.pack(f"<{len(values)}q", *values)
        self._connection._execute_command(self._command, call)
        answer = self._connection._read_packet()
        if answer.is_ok_packet():
            return []
        columns = answer.read_length_encoded_integer()
        self._skip(columns)
        rows = []
        while not (row := self._connection._read_packet()).is_eof_packet():
            row.read(1 + (columns + 9) // 8)
            rows.append(struct.unpack(f"<{columns}i", row.read(4 * columns)))
        return rows

    def _skip(self, described: int) -> None:
        """Skips the definitions of parameters or columns, and the EOF packet after them."""
        for _ in range(described + 1 if described else 0):
            self._connection._read_packet()


def connect(target: str, first: Sequence[str] = (), options: Mapping[str, Any] = MappingProxyType({})) -> Session:
    """Opens a session at a target, and runs the statements in `first`."""
    kind = Postgresql if target.startswith("postgresql:") else Mariadb
    return kind(target, first, options)


def unix(target: str) -> str:
    """Returns the URL of the same database over the server's Unix socket, after looking up the socket's path."""
    url = urlsplit(target)
    login = url.netloc.partition("@")[0]
    if url.scheme == "mariadb":
        session = connect(target)
        ((socket,),) = session.run("SELECT @@socket")
        session.close()
        return f"mariadb://{login}@localhost{url.path}?socket={quote(socket, '')}"
    name = rf"(/\S*)/\.s\.PGSQL\.{url.port}$"
    folder = re.search(name, Path("/proc/net/unix").read_text(), re.MULTILINE)[1]
    return f"postgresql://{login}@{url.path}?host={quote(folder, '')}&port={url.port}&{url.query}"
