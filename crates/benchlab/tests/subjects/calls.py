# SPDX-License-Identifier: Apache-2.0
"""Calls on PostgreSQL and MariaDB that may fail. The first argument selects a client, which reacts to failures in its
own way."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(_PROJECT / "kits/python/src")]

import psycopg  # noqa: E402
import pymysql  # noqa: E402
from lab_kit import Latencies, Opening, Perform, Work, serve, workers  # noqa: E402
from server_drivers import Session, connect  # noqa: E402

Errors = psycopg.Error, pymysql.Error


class Client:
    """A client's connection, which is replaced after a failed call."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._session: Session | None = None

    def attempt(self, batch: int, call: int, once: bool = False) -> None:
        """Makes a call. With `once`, does nothing if the call has already taken effect."""
        session = self._session = self._session or connect(self._target)
        name = "`call`" if self._target.startswith("mariadb") else "call"
        session.run("BEGIN")
        exists = once and session.run(f"SELECT 1 FROM effect WHERE batch = {batch} AND {name} = {call}")
        if not exists:
            session.run(f"INSERT INTO effect VALUES ({batch}, {call})")
        session.run("COMMIT")

    def kill_server(self) -> None:
        """Kills MariaDB once, as soon as another client has connected after this client."""
        struck = Path("struck")  # in the project's folder
        session = self._session
        if session is None or struck.exists():
            return
        if session.run("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID > CONNECTION_ID()"):
            ((file,),) = session.run("SELECT @@pid_file")
            struck.touch()
            os.kill(int(Path(file).read_text()), signal.SIGKILL)

    def close(self) -> None:
        if self._session is not None:
            with suppress(*Errors):
                self._session.close()
            self._session = None


Call = Callable[[Client, int, int], bool]
"""A function that makes a call of a batch, and returns true to report success."""


def hopeless(client: Client, batch: int, call: int) -> bool:
    """Makes one attempt."""
    try:
        client.attempt(batch, call)
        return True
    except Errors:
        client.close()
        return False


def blind(client: Client, batch: int, call: int) -> bool:
    """Retries until an attempt succeeds, even if an earlier one took effect."""
    while not hopeless(client, batch, call):
        pass
    return True


def keyed(client: Client, batch: int, call: int) -> bool:
    """Retries, unless the call has taken effect."""
    once = False
    while True:
        try:
            client.attempt(batch, call, once)
            return True
        except Errors:
            client.close()
            once = True


def liar(client: Client, batch: int, call: int) -> bool:
    """Makes one attempt, and always reports success."""
    hopeless(client, batch, call)
    return True


def stray(client: Client, batch: int, call: int) -> bool:
    """Makes a call that was not requested."""
    return hopeless(client, batch, call + 1_000_000)


def secretive(client: Client, batch: int, call: int) -> bool:
    return hopeless(client, batch, call)


def deadly(client: Client, batch: int, call: int) -> bool:
    """Kills the server if the time for its outage has come, and then makes one attempt."""
    with suppress(*Errors):
        client.kill_server()
    return hopeless(client, batch, call)


CLIENTS: dict[str, Call] = {c.__name__: c for c in (hopeless, blind, keyed, liar, stray, secretive, deadly)}


def case(name: str) -> Callable[[Opening], object]:
    make = CLIENTS[name]

    @contextmanager
    def opened(opening: Opening) -> Iterator[Perform]:
        client = Client(opening.text("target"))
        batch, rate = 0, opening.rate()

        def perform(operations: int) -> Work:
            nonlocal batch
            batch += 1
            failed = [call for call in range(operations) if not make(client, batch, call)]
            return Work(operations, operations, failed=None if name == "secretive" else failed)

        def perform_paced(operations: range, latencies: Latencies) -> Work:
            nonlocal batch
            batch += 1
            failed = []
            for call in operations:
                latencies.wait(call * 1_000_000_000 // rate)
                if not make(client, batch, call):
                    failed.append(call)
                latencies.lap()
            return Work(len(operations), len(operations), failed=failed)

        # Uses its own connection, because the connection of the calls may be cut.
        session = connect(opening.text("target"))
        opening.settings.update(session.first_row(opening.text("settings")))
        session.close()
        try:
            if rate:
                with workers([perform_paced]) as perform_when_due:
                    yield perform_when_due
            else:
                yield perform
        finally:
            client.close()

    return opened


if __name__ == "__main__":
    serve(sys.argv[1], "psycopg, PyMySQL", {"call": case(sys.argv[1])})
