# SPDX-License-Identifier: Apache-2.0
"""SQL on PostgreSQL with psycopg 3 in its C implementation."""

from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import psycopg
from psycopg import pq

from lab_kit import UnsupportedError, serve
from server_cases import server_cases


def connector(target: str, prepared: bool) -> Callable[[], psycopg.Connection]:
    if not target.startswith("postgresql:"):
        raise UnsupportedError("expected a target such as postgresql://user@host/database, got a target with the "
                               f"scheme `{urlsplit(target).scheme}`")
    # A statement is prepared when it is executed for the first time, or never.
    return partial(psycopg.connect, target, autocommit=True, sslmode="disable",
                   gssencmode="disable", prepare_threshold=0 if prepared else None)


def statement_cache(connection: psycopg.Connection) -> int:
    prepares = connection.prepare_threshold is not None
    return (connection.prepared_max or 0) if prepares else 0


_LIBPQ = divmod(pq.version(), 10_000)
LIBRARY = f"psycopg {psycopg.__version__} ({pq.__impl__}), libpq {_LIBPQ[0]}.{_LIBPQ[1]}"

if __name__ == "__main__":
    serve("python", LIBRARY,
          server_cases(connector, psycopg.Connection.transaction, statement_cache))
