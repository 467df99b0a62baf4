# SPDX-License-Identifier: Apache-2.0
"""The subjects that serve, and a running one."""

import os
import re
import resource
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from experiments import ROOT, Declared, declared_subjects
from http1 import Answer, Connection, request
from subject import ProtocolError, Reply, Subject

CLOSE_S = 60
"""The timeout for a server to end, in seconds. The experiment allows 5 s, but other programs may keep the cores
busy."""

PATIENT_CLOSE_S = 30
"""The time for requests in progress of a patient server. Tomcat keeps idle connections for as long."""


def rest_subjects() -> list[Declared]:
    return [subject for subject in declared_subjects() if subject.experiment == "rest"]


def is_built(declared: Declared) -> bool:
    """Returns True if its program exists, and also every built file that its arguments contain: Java has a path of
    multiple directories."""
    program, *words = declared.program
    built = [path.removesuffix("/*") for word in words for path in word.split(":")
             if path.startswith("build/")]
    return all((ROOT / path).exists() for path in built) and (
        (ROOT / program).exists() or shutil.which(program) is not None)


def started(declared: Declared, **variables: str) -> Subject:
    """Starts the subject with the default limit of open files, which it may raise itself: in a shell the
    limit is usually 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, soft), hard))
    try:
        return Subject(declared.program, ROOT, **variables)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Server:
    """A running subject whose case `serve` is open."""

    def __init__(self, subject: Subject, files: Path) -> None:
        self.subject = subject
        self.files = files
        self.open()

    def open(self) -> Reply:
        self.opened = self.subject.ask_for(
            "opened", f"open case=serve workers=8 files={self.files} seed=7")
        url = re.fullmatch(r"http://127\.0\.0\.1:([1-9][0-9]*)", self.opened.arguments["url"])
        if url is None:
            raise ProtocolError(f"the URL of the server is not http://127.0.0.1:PORT: {self.opened}")
        self.port = int(url[1])
        return self.opened

    def connect(self) -> Connection:
        return Connection(self.port)

    def ask(self, method: str, path: str, body: bytes | None = None,
            headers: Mapping[str, str] = {}) -> Answer:
        """Sends a request over a separate connection."""
        with self.connect() as connection:
            return connection.ask(method, path, body, headers)

    def ask_in_vain(self, method: str, path: str) -> Answer | None:
        """Sends data that some servers do not accept as a request. Those servers close the connection."""
        with self.connect() as connection:
            connection.send(request(method, path))
            return connection.answer(method) if connection.has_more() else None

    def open_files(self) -> int:
        """Returns the number of open files and connections of its process."""
        return len(list(Path(f"/proc/{self.subject.pid}/fd").iterdir()))

    def wait_until_idle(self) -> None:
        self.subject.wait_until_idle(self.port)

    def is_listening(self) -> bool:
        try:
            self.connect().close()
        except ConnectionRefusedError:
            return False
        return True

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stops the process, as benchlab stops a subject while another subject is measured."""
        os.kill(self.subject.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.subject.pid, signal.SIGCONT)
