# SPDX-License-Identifier: Apache-2.0
"""Code that mysqlclient and PyMySQL need in addition to the DB-API."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from lab_kit import UnsupportedError


def parameters(target: str) -> dict[str, Any]:
    """Returns the arguments for connecting to the target."""
    address = urlsplit(target)
    if address.scheme != "mariadb":
        raise UnsupportedError("expected a target such as mariadb://user@host/database, got a target with the scheme "
                               f"`{address.scheme}`")
    found = {
        "host": address.hostname,
        "user": unquote(address.username or ""),
        "password": unquote(address.password or ""),
        "database": unquote(address.path.removeprefix("/")),
        "charset": "utf8mb4",
        "autocommit": True,
    }
    if address.port is not None:
        found["port"] = address.port
    if "socket" in (query := parse_qs(address.query)):
        found["unix_socket"] = query["socket"][0]
    return found


@contextmanager
def transaction(connection: Any) -> Iterator[None]:
    connection.begin()
    try:
        yield
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
