# SPDX-License-Identifier: Apache-2.0
"""Starts third-party servers, such as Apache, for a subject. They are private to the subject, run
as an unprivileged user, and end with the subject, however it exits."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

_USER = "www-data"
"""The user that the servers run as if the subject runs as root. Debian always has this user; other distributions have
`nobody`."""

_TIMEOUT_S = 120
"""The timeout for a server to respond, which allows for a busy machine."""

_GRACE_S = 10
"""The timeout for a server to exit gracefully."""

_LINES_IN_ERROR, _LINES_IN_LOG = 5, 100
"""The maximum number of lines from the end of the log that are shown with an error (`_LINES_IN_ERROR`), and
that are forwarded when the subject ends (`_LINES_IN_LOG`)."""

_ATTEMPTS = 5
"""The number of attempts to use a free port. Another program may take a port between its choice and its
use."""

_GUARD = """
import os, shutil, signal, sys
def began(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return None
group, folder = int(sys.argv[1]), sys.argv[2]
started = []
for line in sys.stdin:
    pid = int(line)
    started.append((pid, began(pid)))
ends = [(os.killpg, group)]
for pid, when in started:
    if when is not None and began(pid) == when:
        ends.append((os.killpg if os.getpgid(pid) == pid else os.kill, pid))
for end, number in ends:
    try:
        end(number, signal.SIGKILL)
    except ProcessLookupError:
        pass
for _ in range(100):
    shutil.rmtree(folder, ignore_errors=True)
    if not os.path.exists(folder):
        break
"""
"""Waits until the subject has exited, which closes a pipe that only the subject holds. Then ends the remaining
processes: the subject's group, and registered processes that created their own group, as php-fpm does."""


class Daemons:
    """The servers of one case, as a context manager. They are in the subject's process group, so that benchlab
    freezes and ends them with the subject.

    `folder` is the daemons' directory, which is removed at the end. It is created in `parent`, which all users must
    be able to enter. If `tells` is true, the daemons' output and their file `log` become log lines of the subject at
    the end.
    """

    def __init__(self, parent: Path | None = None, *, tells: bool = True) -> None:
        self._tells = tells
        self._parent = parent or _shared_memory()
        self._account = _account()
        self._running: list[tuple[subprocess.Popen[bytes], signal.Signals]] = []

    def __enter__(self) -> "Daemons":
        if os.getpgrp() != os.getpid():  # benchlab's subjects lead a group; other groups must not be ended
            os.setpgid(0, 0)
        # Apache signals its whole process group (prefork.c). This program is in the group, and exits
        # on its own.
        for number in signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, lambda *_: None)
        self.folder = Path(tempfile.mkdtemp(prefix="lab-daemons-", dir=self._parent))
        self.own(self.folder)
        self.write("log", "")
        words = [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpgrp()), str(self.folder)]
        self._guard = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        for process, ending in reversed(self._running):
            _end(process, ending)
        if self._tells:
            print(self._log(_LINES_IN_LOG), end="", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._guard.kill()
        self._guard.wait()
        self._guard.stdin.close()

    def own(self, path: Path) -> None:
        """Makes the servers' user the owner of a file or directory."""
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def make(self, name: str) -> Path:
        """Creates a directory within the servers' directory."""
        path = self.folder / name
        path.mkdir()
        self.own(path)
        return path

    def write(self, name: str, text: str) -> Path:
        """Creates a file within the servers' directory that only the servers may read."""
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        self.own(path)
        return path

    def start(self, words: Sequence[str | Path], ready: Callable[[], bool], *,
              ending: signal.Signals = signal.SIGTERM, environment: Mapping[str, str] = {}) -> int:
        """Starts a program, waits until it is ready, and returns its process ID. Its output becomes log lines of the
        subject. The signal `ending` makes the program exit after it has finished the requests in progress."""
        whom = {} if self._account is None else {
            "user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}
        log = (self.folder / "log").open("ab")
        process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "TZ": "UTC",
                 "HOME": str(self.folder), **environment}, **whom)
        log.close()
        self._guard.stdin.write(f"{process.pid}\n".encode())
        self._guard.stdin.flush()
        self._running.append((process, ending))
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"{words[0]} exited with status {process.returncode}\n"
                                   f"{self._log(_LINES_IN_ERROR)}")
            if ready():
                return process.pid
            if time.monotonic() > deadline:
                raise RuntimeError(f"{words[0]} did not respond within {_TIMEOUT_S} s\n"
                                   f"{self._log(_LINES_IN_ERROR)}")
            time.sleep(0.005)

    def listen(self, begin: Callable[[int], int]) -> tuple[int, int]:
        """Makes `begin` start a server on a free port, and returns the port and the result of `begin`.
        Tries another port if the first one was taken in the meantime."""
        for attempt in range(1, _ATTEMPTS + 1):
            port = free_port()
            try:
                return port, begin(port)
            except RuntimeError:
                if attempt == _ATTEMPTS or _is_free(port):
                    raise
        raise AssertionError("unreachable")

    def _log(self, most: int) -> str:
        lines = (self.folder / "log").read_text(errors="replace").splitlines()[-most:]
        return "".join(f"{line}\n" for line in lines)


def program(*names: str) -> str:
    """Returns the path of the first program in `names` that exists. Also searches the directories for
    administrators, such as /usr/sbin."""
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    for name in names:
        if found := shutil.which(name, path=folders):
            return found
    raise RuntimeError(f"{names[0]} is not installed")


def free_port() -> int:
    """Returns a free port on 127.0.0.1."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


def _is_free(port: int) -> bool:
    """Returns false if a server or a connection uses a port of 127.0.0.1."""
    with socket.socket() as place:
        try:
            place.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def is_open(port: int) -> bool:
    """Returns true if a program listens on a port of 127.0.0.1."""
    with socket.socket() as place:
        place.settimeout(1)
        return place.connect_ex(("127.0.0.1", port)) == 0


def _end(process: subprocess.Popen[bytes], ending: signal.Signals) -> None:
    for way in ending, signal.SIGTERM, signal.SIGKILL:
        if process.poll() is not None:
            return
        process.send_signal(way)
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            continue


def _account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(_USER)
    except KeyError:
        return pwd.getpwnam("nobody")


def _shared_memory() -> Path:
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
