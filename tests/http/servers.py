# SPDX-License-Identifier: Apache-2.0
"""The tested servers: subjects of the experiment `rest`, started as benchlab starts them, or a server with the
same content at a URL."""

import os
import random
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from client import Answer, Connection, request
from experiments import ROOT, Declared, declared_subjects
from subject import Subject

PROFILES = ("ada-embedded", "ada-server", "ada-rest")
"""The profiles of the HTTP server in appserver/ada. Where the RFCs leave a choice, these servers behave as their
library guarantees."""

FILES = {
    "64k.bin": bytes(range(256)) * 256,
    "empty.bin": b"",
    "one.bin": b"1",
    "a name.bin": b"with a space",
    "é.bin": "in UTF-8".encode(),
    "100%.bin": b"with a percent sign",
    ".hidden": b"begins with a dot",
    "..two": b"begins with two dots",
}
SECRET = b"nobody may read this"


@dataclass(frozen=True)
class Target:
    """A tested server: a subject, or a URL."""

    name: str
    declared: Declared | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def promises(self) -> bool:
        return self.name in PROFILES


def targets() -> list[Target]:
    """Returns the three profiles, or the subjects and URLs in BENCHLAB_TEST_SERVERS, separated by commas."""
    subjects = {subject.name: Target(subject.name, subject)
                for subject in declared_subjects() if subject.experiment == "rest"}
    selection = os.environ.get("BENCHLAB_TEST_SERVERS")
    if selection is None:
        return [subjects[name] for name in PROFILES if name in subjects]
    names = selection.split(",")
    if unknown := [name for name in names if "://" not in name and name not in subjects]:
        raise LookupError(f"BENCHLAB_TEST_SERVERS: neither a URL nor a subject of the experiment rest: {', '.join(unknown)}")
    return [Target(name) if "://" in name else subjects[name] for name in names]


class Server:
    """A running server."""

    def __init__(self, target: Target, url: str, subject: Subject | None = None) -> None:
        self.target = target
        self.promises = target.promises
        self.subject = subject
        parts = urlsplit(url)
        self.address = (parts.hostname, parts.port or 80)

    def connect(self, **settings: object) -> Connection:
        return Connection(self.address, forgiving=not self.promises, **settings)

    def get(self, path: str = "/api", *headers: str, method: str = "GET") -> Answer:
        """Sends a request over a separate connection."""
        with self.connect() as connection:
            return connection.send(request(method, path, *headers)).answer(method)

    def post(self, path: str, body: bytes, *headers: str) -> Answer:
        with self.connect() as connection:
            return connection.send(request("POST", path, *headers, body=body)).answer("POST")

    def must_serve(self) -> None:
        assert self.get("/api").json == {"greeting": "Hello World!"}

    @property
    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.subject.pid}/fd"))

    @property
    def is_usable(self) -> bool:
        return self.subject is None or self.subject.is_usable

    def close(self) -> None:
        if self.subject is not None:
            self.subject.kill()


def start(target: Target, folder: Path | None, *arguments: str, prefix: Sequence[str] = ()) -> Server:
    """Starts a server, with further arguments of `open`, and a command that executes the subject."""
    if target.declared is None:
        return Server(target, target.name)
    program = target.declared.program
    if not (ROOT / program[0]).exists():
        build = "\n".join(" ".join(command) for command in target.declared.build)
        raise FileNotFoundError(f"{program[0]} is missing; build it with\n{build}")
    subject = Subject([*prefix, *program], ROOT)
    try:
        opened = open_case(subject, folder, *arguments)
    except BaseException:
        subject.kill()
        raise
    return Server(target, opened, subject)


def open_case(subject: Subject, folder: Path, *arguments: str) -> str:
    """Opens the case and returns the URL that it serves."""
    words = ["open", "case=serve", "workers=8", f"files={quote(str(folder), safe='/-._~:,+')}", "seed=7", *arguments]
    return subject.ask_for("opened", " ".join(words)).arguments["url"]


def make_files(folder: Path) -> Path:
    """Creates the served directory; the directory around it is not served."""
    served = folder / "files"
    served.mkdir()
    for name, content in FILES.items():
        (served / name).write_bytes(content)
    (served / "folder").mkdir()
    os.mkfifo(served / "pipe")
    (folder / "secret").write_bytes(SECRET)
    (folder / "files-not").mkdir()
    (folder / "files-not" / "secret").write_bytes(SECRET)
    return served


def free_port() -> int:
    """Returns a port of 127.0.0.1 that no process uses now. It is below those that the system chooses, because
    another test could otherwise get it before it is used."""
    first_chosen = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(min(10_000, first_chosen // 2), first_chosen)
        with socket.socket() as server, suppress(OSError):
            server.bind(("127.0.0.1", port))
            return port
