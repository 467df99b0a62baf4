# SPDX-License-Identifier: Apache-2.0
"""REST with Starlette on uvicorn: one process, whose event loop runs the handlers."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread

from uvicorn import Config, Server

from api import api
from lab_kit import Opening, serve

_TIMEOUT_S = 300
"""The idle timeout of a connection. It is much longer than the time for which benchlab stops a server;
uvicorn's default is 5 s."""

_GRACE_S = int(os.environ.get("CLOSE_TIMEOUT_S", "4"))
"""The time for requests in progress to finish when the server is closed. In tests, an environment variable sets it."""

_LIBRARIES = ("uvicorn", "starlette", "uvloop", "httptools")


@contextmanager
def open_server(opening: Opening) -> Iterator[None]:
    app = api(opening.text("files"), opening.integer("workers", 1, 1024))
    server = Server(Config(app, host="127.0.0.1", port=0, access_log=False,
                           timeout_keep_alive=_TIMEOUT_S, timeout_graceful_shutdown=_GRACE_S))
    with running(server):
        port = server.servers[0].sockets[0].getsockname()[1]
        opening.settings |= {"url": f"http://127.0.0.1:{port}", "workers": 0, "loops": 1}
        yield


@contextmanager
def running(server: Server) -> Iterator[None]:
    """Runs the server in a separate thread, because the calling thread waits for benchlab's next command."""
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("uvicorn did not start; see the log")
            thread.join(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join()


def allow_all_open_files() -> None:
    """Permits as many connections as the system allows, instead of the shell's limit of 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    allow_all_open_files()
    serve("python", ", ".join(f"{name} {version(name)}" for name in _LIBRARIES),
          {"serve": open_server}, one_thread=False)
