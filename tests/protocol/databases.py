# SPDX-License-Identifier: Apache-2.0
"""The databases that subjects use, as another program creates and sees them: their tables, their settings,
and their servers' counters."""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import parse_qs, quote, unquote, urlsplit

import psycopg
import pymysql

from sql_model import MIXED, VALUES

TIMEOUT_S = 60
"""The time within which a server must notice the end of a client, and release its locks."""


class Counted(NamedTuple):
    """Counters of a server since it started."""

    statements: Counter[str]
    """Statements by their first keyword."""
    prepared: Counter[str]
    """Executions of prepared statements, and other counters that show preparing."""
    sessions: int
    """Sessions begun; a server may count them a little later."""
    aborted: int
    """Sessions that the client ended without notifying the server."""


class Database(Protocol):
    """A database with test_simple and test_mixed, which are created as the experiment declares for the
    target."""

    target: str
    table: str
    """The statement that creates test_simple."""
    no_table: str
    """A regular expression that messages about a missing table match."""

    def fill(self, values: list[int]) -> None:
        """Replaces the rows of test_simple by these values, and resets the next id."""

    def rows(self) -> dict[int, int]:
        """Returns the rows of test_simple."""

    def execute(self, statement: str) -> None:
        """Executes a statement of the test itself, for which no lock may be held."""

    def ask(self, statement: str) -> Iterable[tuple]:
        """Returns the rows of a query of the test itself."""

    def arguments(self, transport: str = "tcp") -> dict[str, object]:
        """Returns the arguments of `open`: the target, the table, and the query for the settings."""

    def settings(self, transport: str = "tcp") -> dict[str, str]:
        """Returns the settings that a subject must report."""


# -- SQLite ------------------------------------------------------------------------------------


class SQLite:
    target = "sqlite"
    no_table = "no such table"

    def __init__(self, path: Path, declared: Mapping[str, str]) -> None:
        self.path = path
        self.table = declared["table"]
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(self.table)
            connection.execute(declared["mixed"])
            connection.executemany(
                "INSERT INTO test_mixed VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*row[:3], float(row.amount), row.name, None,
                  row.moment.isoformat(" ", "milliseconds")) for row in MIXED])

    def fill(self, values: list[int]) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.executemany("INSERT INTO test_simple (value) VALUES (?)", zip(values))

    def rows(self) -> dict[int, int]:
        with closing(sqlite3.connect(self.path)) as connection:
            ((integrity,),) = connection.execute("PRAGMA integrity_check")
            assert integrity == "ok"
            return dict(connection.execute("SELECT id, value FROM test_simple ORDER BY id"))

    def transactions(self) -> int:
        """Returns the number of transactions that have written, from the file change counter in the header, which each
        transaction increments (https://www.sqlite.org/fileformat2.html)."""
        return int.from_bytes(self.path.read_bytes()[24:28], "big")

    def execute(self, statement: str) -> None:
        with closing(sqlite3.connect(self.path, timeout=0)) as connection, connection:
            connection.execute(statement)

    def ask(self, statement: str) -> Iterable[tuple]:
        with closing(sqlite3.connect(self.path, timeout=0)) as connection:
            return connection.execute(statement).fetchall()

    @contextmanager
    def locked(self, mode: str) -> Iterator[None]:
        """Locks the database with a transaction of the test, which is begun in this mode and rolled back."""
        with closing(sqlite3.connect(self.path, timeout=0, isolation_level=None)) as connection:
            connection.execute(f"BEGIN {mode}")
            yield

    def arguments(self, transport: str = "tcp") -> dict[str, object]:
        return {"target": f"sqlite:{self.path}", "table": self.table}

    def settings(self, transport: str = "tcp") -> dict[str, str]:
        pragmas = ("journal_mode", "synchronous", "encoding", "page_size", "cache_size")
        with closing(sqlite3.connect(self.path)) as connection:
            values = [connection.execute(f"PRAGMA {pragma}").fetchone()[0] for pragma in pragmas]
        return {**dict(zip(pragmas, map(str, values))), "autocommit": "1"}


# -- Servers -----------------------------------------------------------------------------------


class Server(Database, Protocol):
    """A server with the tests' own schema, which is dropped at the end."""

    port: int

    def close(self) -> None: ...

    def uri(self, transport: str = "tcp", **parts: str) -> str:
        """Returns the target; user, password, port and schema are those of the tests unless given."""

    def counted(self) -> Counted: ...

    def shows_preparing(self, before: Counted, after: Counted) -> bool | None:
        """Returns True if all data was read and written by prepared statements, False if none was, None if some
        was."""


class PostgreSQL:
    target = "postgresql"
    no_table = "42P01"

    def __init__(self, uri: str, schema: str, declared: Mapping[str, str]) -> None:
        self.table = declared["table"]
        # A NULL, and a setting that shows that the target's parameters were used.
        self._settings = (f"{declared['settings']}, NULL::text AS nothing, "
                          "current_setting('search_path') AS schema")
        self._parts = urlsplit(uri)
        self._schema = schema
        self.port = self._parts.port or 5432
        # No options: the schema in them may not exist. pg_stat_statements is in public.
        self._connection = psycopg.connect(uri, autocommit=True, options="", prepare_threshold=None)
        self.execute(f'CREATE SCHEMA "{schema}"')
        self.execute(f'SET search_path = "{schema}", public')
        self.execute(f"SET lock_timeout = {TIMEOUT_S}000")
        self.execute(self.table)
        self.execute(declared["mixed"])
        with self._connection.cursor() as cursor:
            cursor.executemany("INSERT INTO test_mixed VALUES (%s, %s, %s, %s, %s, %s, %s)", MIXED)

    def close(self) -> None:
        self.execute(f'DROP SCHEMA "{self._schema}" CASCADE')
        self._connection.close()

    def execute(self, statement: str) -> None:
        self._connection.execute(statement)

    def ask(self, statement: str) -> Iterable[tuple]:
        return self._connection.execute(statement).fetchall()

    def fill(self, values: list[int]) -> None:
        if values and values == list(self.rows().values()):
            return
        self.execute("TRUNCATE test_simple RESTART IDENTITY")
        with self._connection.cursor().copy("COPY test_simple (value) FROM STDIN") as copy:
            for value in values:
                copy.write_row((value,))
        self.execute("ANALYZE test_simple, test_mixed")

    def rows(self) -> dict[int, int]:
        return dict(self._connection.execute("SELECT id, value FROM test_simple ORDER BY id"))

    def uri(self, transport: str = "tcp", **parts: str) -> str:
        user = quote(parts.get("user", unquote(self._parts.username or "")), safe="")
        password = quote(parts.get("password", unquote(self._parts.password or "")), safe="")
        port = parts.get("port", self.port)
        database = self._parts.path
        options = quote(f'-csearch_path={parts.get("schema", self._schema)}', safe="")
        if transport == "unix":
            folder = quote(_listening_folder(f".s.PGSQL.{port}"), safe="")
            return (f"postgresql://{user}:{password}@{database}?host={folder}&port={port}"
                    f"&options={options}")
        return (f"postgresql://{user}:{password}@{self._parts.hostname}:{port}{database}"
                f"?options={options}")

    def arguments(self, transport: str = "tcp") -> dict[str, object]:
        return {"target": self.uri(transport), "table": self.table, "settings": self._settings}

    def settings(self, transport: str = "tcp") -> dict[str, str]:
        ((version, commit),) = self._connection.execute(
            "SELECT current_setting('server_version'), current_setting('synchronous_commit')")
        return {"version": version, "transaction_isolation": "read committed",
                "synchronous_commit": commit, "time_zone": "UTC", "client_encoding": "UTF8",
                "tls": "off", "transport": transport, "nothing": "", "schema": self._schema}

    def counted(self) -> Counted:
        statements: Counter[str] = Counter()
        planned = 0
        for query, calls, plans in self._connection.execute(
                "SELECT query, calls, plans FROM pg_stat_statements "
                "WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) "
                "AND userid = current_user::regrole AND query NOT LIKE '%pg_stat_%'"):
            statements[query.split(maxsplit=1)[0].rstrip(";").upper()] += calls
            planned += plans
        ((sessions, aborted),) = self._connection.execute(
            "SELECT sessions, sessions_abandoned FROM pg_stat_database "
            "WHERE datname = current_database()")
        return Counted(statements, Counter(plans=planned), sessions, aborted)

    def shows_preparing(self, before: Counted, after: Counted) -> bool | None:
        calls = after.statements - before.statements
        plans = (after.prepared - before.prepared)["plans"]
        if plans == 0:
            return True
        return False if plans == calls["SELECT"] + calls["INSERT"] + calls["UPDATE"] else None


class MariaDB:
    target = "mariadb"
    no_table = "42S02|1146|1051"  # some drivers report only the server's error number, without the SQLSTATE

    def __init__(self, uri: str, schema: str, declared: Mapping[str, str]) -> None:
        self.table = declared["table"]
        self._settings = (f"{declared['settings']}, CAST(NULL AS CHAR) AS nothing, "
                          "database() AS `schema`")
        self._parts = urlsplit(uri)
        self._schema = schema
        self.port = self._parts.port or 3306
        socket = parse_qs(self._parts.query).get("socket", [None])[0]
        self._connection = pymysql.connect(
            host=self._parts.hostname, port=self.port, unix_socket=socket, charset="utf8mb4",
            user=unquote(self._parts.username or ""), password=unquote(self._parts.password or ""),
            autocommit=True)
        self.execute(f"CREATE DATABASE `{schema}` CHARACTER SET utf8mb4")
        self._connection.select_db(schema)
        self.execute(f"SET lock_wait_timeout = {TIMEOUT_S}, innodb_lock_wait_timeout = {TIMEOUT_S}")
        self.execute(self.table)
        self.execute(declared["mixed"])
        with self._connection.cursor() as cursor:
            cursor.executemany("INSERT INTO test_mixed VALUES (%s, %s, %s, %s, %s, %s, %s)", MIXED)

    def close(self) -> None:
        self.execute(f"DROP DATABASE `{self._schema}`")
        self._connection.close()

    def execute(self, statement: str) -> None:
        self.ask(statement)

    def fill(self, values: list[int]) -> None:
        if values and values == list(self.rows().values()):
            return
        self.execute("TRUNCATE test_simple")
        if values:
            with self._connection.cursor() as cursor:
                cursor.executemany("INSERT INTO test_simple (value) VALUES (%s)", list(zip(values)))

    def rows(self) -> dict[int, int]:
        return dict(self.ask("SELECT id, value FROM test_simple ORDER BY id"))

    def uri(self, transport: str = "tcp", **parts: str) -> str:
        user = quote(parts.get("user", unquote(self._parts.username or "")), safe="")
        password = quote(parts.get("password", unquote(self._parts.password or "")), safe="")
        schema = parts.get("schema", self._schema)
        if transport == "unix":
            ((socket,),) = self.ask("SELECT @@socket")
            return f"mariadb://{user}:{password}@localhost/{schema}?socket={quote(socket, safe='')}"
        return (f"mariadb://{user}:{password}@{self._parts.hostname}:"
                f"{parts.get('port', self.port)}/{schema}")

    def arguments(self, transport: str = "tcp") -> dict[str, object]:
        return {"target": self.uri(transport), "table": self.table, "settings": self._settings}

    def settings(self, transport: str = "tcp") -> dict[str, str]:
        ((version, isolation, flush, zone),) = self.ask(
            "SELECT version(), @@global.tx_isolation, @@innodb_flush_log_at_trx_commit, "
            "@@global.time_zone")
        return {"version": version, "transaction_isolation": isolation, "autocommit": "on",
                "innodb_flush_log_at_trx_commit": str(flush), "time_zone": zone,
                "character_set_client": "utf8mb4", "character_set_results": "utf8mb4",
                "tls": "off", "transport": transport, "nothing": "", "schema": self._schema}

    def counted(self) -> Counted:
        status = {name.upper(): int(value) for name, value in self.ask(
            "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com\\_%' "
            "OR Variable_name IN ('Connections', 'Aborted_clients')") if value.isdigit()}
        commands = Counter({name.removeprefix("COM_"): count for name, count in status.items()
                            if name.startswith("COM_") and name != "COM_SHOW_STATUS" and count})
        prepared = Counter({name: commands.pop(name) for name in list(commands)
                            if name.startswith("STMT_")})
        statements = Counter({name.removesuffix("_TABLE"): n for name, n in commands.items()})
        return Counted(statements, prepared, status["CONNECTIONS"], status["ABORTED_CLIENTS"])

    def shows_preparing(self, before: Counted, after: Counted) -> bool | None:
        calls = after.statements - before.statements
        prepared = after.prepared - before.prepared
        if not prepared:
            return False
        data = calls["SELECT"] + calls["INSERT"] + calls["UPDATE"]
        return True if prepared == Counter(STMT_EXECUTE=data) else None

    def ask(self, statement: str) -> Iterable[tuple]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()


def _listening_folder(name: str) -> str:
    """Returns the directory in which a Unix socket of this name is bound; only a superuser can get it from
    PostgreSQL."""
    for line in Path("/proc/net/unix").read_text().splitlines():
        path = line.split(maxsplit=7)[-1]
        if path.startswith("/") and path.endswith("/" + name):
            return path.removesuffix("/" + name)
    raise LookupError(f"no Unix socket {name} on this machine")


SERVERS: dict[str, Callable[[str, str, Mapping[str, str]], Server]] = {
    "postgresql": PostgreSQL, "mariadb": MariaDB}


@contextmanager
def refusing(database: Database, value: int) -> Iterator[None]:
    """While active, makes every statement fail that sets the value of a row of test_simple to `value`. SQLite uses
    triggers, because it cannot add a constraint to an existing table."""
    if isinstance(database, SQLite):
        events = ("INSERT", "UPDATE")
        refuse = [f"CREATE TRIGGER refuses_{event} BEFORE {event} ON test_simple WHEN NEW.value = {value} "
                  "BEGIN SELECT RAISE(ABORT, 'refused'); END" for event in events]
        accept = [f"DROP TRIGGER refuses_{event}" for event in events]
    else:
        refuse = [f"ALTER TABLE test_simple ADD CONSTRAINT refuses CHECK (value <> {value})"]
        accept = ["ALTER TABLE test_simple DROP CONSTRAINT refuses"]
    for statement in refuse:
        database.execute(statement)
    yield
    for statement in accept:
        database.execute(statement)


def server_uri(target: str) -> str | None:
    return os.environ.get(f"LAB_{target.upper()}")


def eventually(condition: Callable[[], bool], seconds: float = TIMEOUT_S) -> bool:
    """Returns True if the condition becomes true within this time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
