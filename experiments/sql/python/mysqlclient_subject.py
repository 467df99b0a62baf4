# SPDX-License-Identifier: Apache-2.0
"""SQL on MariaDB with mysqlclient, which wraps MariaDB's C library."""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import MySQLdb

from lab_kit import serve
from mariadb_target import parameters, transaction
from server_cases import server_cases


def connector(target: str, _: bool) -> Callable[[], MySQLdb.Connection]:
    return partial(MySQLdb.connect, **parameters(target), ssl_mode="DISABLED")


LIBRARY = f"mysqlclient {version('mysqlclient')}, MariaDB Connector/C {MySQLdb.get_client_info()}"

if __name__ == "__main__":
    serve("python", LIBRARY,
          server_cases(connector, transaction, statement_cache=None))
