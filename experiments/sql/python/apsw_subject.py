# SPDX-License-Identifier: Apache-2.0
"""SQL on SQLite with apsw, which wraps the C API closely: over the SQLite that its wheel bundles, or over the
system's library where apsw was built with it."""

from collections.abc import Callable
from functools import partial

import apsw

from lab_kit import serve
from sqlite_cases import sqlite_cases, threading_mode


def connector(path: str, cached: bool) -> Callable[[], apsw.Connection]:
    # Without SQLITE_OPEN_CREATE a missing file is not created.
    connect = partial(apsw.Connection, path, flags=apsw.SQLITE_OPEN_READWRITE)
    return connect if cached else partial(connect, statementcachesize=0)


def driver_settings(connection: apsw.Connection, _: bool) -> dict[str, object]:
    return {"threading": threading_mode(connection, connection.open_flags),
            "statement_cache": connection.cache_stats()["size"]}


if __name__ == "__main__":
    serve("apsw" if apsw.using_amalgamation else "apsw-system",
          f"apsw {apsw.apswversion()}, SQLite {apsw.sqlitelibversion()}",
          sqlite_cases(connector, driver_settings))
