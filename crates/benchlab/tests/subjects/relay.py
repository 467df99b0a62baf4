# SPDX-License-Identifier: Apache-2.0
"""A fixture that takes part in visits: it relays connections to the Unix socket of a subject, and counts the bytes
that clients send. It logs its actions. If a state has the argument `crash`, it exits when the subject begins to
work."""

import os
import socket
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "kits/python/src"))

from lab_kit import Fixture, State, Visit, serve_fixture  # noqa: E402

NOTES = Path(sys.argv[1])


def note(line: str) -> None:
    with NOTES.open("a") as notes:
        notes.write(line + "\n")


class Link(Visit):
    def __init__(self, state: State, number: int) -> None:
        self.state = state
        self.server = Path(tempfile.gettempdir()) / f"server-{os.getpid()}-{number}"
        self.sent = self.before = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.connections: list[socket.socket] = []
        threading.Thread(target=self.accept, daemon=True).start()
        note(f"entered {state.name}")

    def values(self) -> dict[str, object]:
        port = self.listener.getsockname()[1]
        return {"address": f"127.0.0.1:{port}", "socket": self.server, "packet": self.state.text("packet_size")}

    def begin(self, expected_ns: int | None) -> None:
        if "crash" in self.state.arguments:
            os._exit(7)
        self.before = self.sent

    def end(self, operations: int) -> dict[str, float]:
        return {"sent": (self.sent - self.before) / operations}

    def leave(self) -> None:
        for end in (self.listener, *self.connections):
            end.close()
        self.server.unlink(missing_ok=True)
        note(f"left {self.state.name}")

    def accept(self) -> None:
        try:
            while True:
                client, server = self.listener.accept()[0], socket.socket(socket.AF_UNIX)
                server.connect(str(self.server))
                self.connections += client, server
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self.relay, args=ends, daemon=True).start()
        except OSError:
            pass

    def relay(self, sender: socket.socket, receiver: socket.socket) -> None:
        try:
            while data := sender.recv(65536):
                if receiver.family == socket.AF_UNIX:
                    self.sent += len(data)
                receiver.sendall(data)
        except OSError:
            pass


class Links(Fixture):
    count = 0

    def open(self) -> dict[str, object]:
        note(f"opened {os.getpid()}")
        return {}

    def set(self, state: State | None) -> dict[str, object]:
        assert state is None
        note("undone")
        return {}

    def enter(self, state: State) -> Visit:
        self.count += 1
        return Link(state, self.count)


if __name__ == "__main__":
    serve_fixture("relay", Links())
