# SPDX-License-Identifier: Apache-2.0
"""SQL on MariaDB with PyMySQL, which is written entirely in Python."""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import pymysql

from lab_kit import serve
from mariadb_target import parameters, transaction
from server_cases import server_cases


def connector(target: str, _: bool) -> Callable[[], pymysql.Connection]:
    return partial(pymysql.connect, **parameters(target), ssl_disabled=True)


if __name__ == "__main__":
    serve("pymysql", f"PyMySQL {version('pymysql')}",
          server_cases(connector, transaction, statement_cache=None))
