# SPDX-License-Identifier: Apache-2.0
"""SQL on SQLite with the standard library's sqlite3."""

import sqlite3
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from lab_kit import serve
from sqlite_cases import sqlite_cases, threading_mode

# The default of the library, which has no function that returns it.
CACHED_STATEMENTS = 128


def connector(path: str, cached: bool) -> Callable[[], sqlite3.Connection]:
    # With a plain path a missing file would be created; without an isolation level there are no implicit
    # transactions; the case connections opens in one thread what it uses in another thread.
    connect = partial(sqlite3.connect, f"file:{quote(path)}?mode=rw", uri=True,
                      isolation_level=None, check_same_thread=False)
    return partial(connect, cached_statements=CACHED_STATEMENTS if cached else 0)


def driver_settings(connection: sqlite3.Connection, cached: bool) -> dict[str, object]:
    return {"threading": threading_mode(connection),  # it is opened without threading flags
            "statement_cache": CACHED_STATEMENTS if cached else 0}


LIBRARY = f"sqlite3, SQLite {sqlite3.sqlite_version}"

if __name__ == "__main__":
    serve("python", LIBRARY, sqlite_cases(connector, driver_settings))
