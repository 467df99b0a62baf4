# SPDX-License-Identifier: Apache-2.0
"""REST with Starlette on uvicorn: one process, whose event loop runs the handlers."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread

from uvicorn import Config, Server

from api import api
from lab_kit import Opening, serve

_TIMEOUT_S = 300
"""For so long a connection may be idle. It is by far more than the lab stops a server for; uvicorn's
own is 5 s."""

_GRACE_S = 3
"""A request that is under way when the server closes has so long to end."""

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
    """In a thread of its own, for this one waits for the lab's next command."""
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("uvicorn did not start: the log says why")
            thread.join(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join()


def allow_all_open_files() -> None:
    """As many connections as the system lets this process have, and not the shell's 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    allow_all_open_files()
    serve("python", ", ".join(f"{name} {version(name)}" for name in _LIBRARIES),
          {"serve": open_server}, one_thread=False)
