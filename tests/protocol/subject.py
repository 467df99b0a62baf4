# SPDX-License-Identifier: Apache-2.0
"""Drives a subject as benchlab does: a process that receives one command per line and sends one reply per
line. Its output must follow the protocol exactly; otherwise ProtocolError is raised."""

import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

TIMEOUT_S = 120
"""The time within which a subject must reply. It is only reached if a subject hangs: on a busy machine a JVM needs
many seconds to start."""

SHORT_LIVED_JAVA = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
"""Options for subjects that run for about a second, as most do here: the optimizing compiler would cost
more time than it saves."""

LINE_MAX = 65_536
"""Bytes of a line, without its LF."""

_REPLY = re.compile(
    r"@lab [a-z]+(?: [a-z][a-z0-9_]*=(?:[A-Za-z0-9\-._~/:,+]|%[0-9A-F]{2})*)*")

_CONNECTION = re.compile(r"^\S+ +\d+ +\d+ +\S+:(\d+) .* ino:(\d+) ", re.MULTILINE)
"""The local port and the inode of a connection in the output of ss(8)."""


_ESTABLISHED = "01"
"""The state of an open connection in /proc/net/tcp: `TCP_ESTABLISHED` in the kernel's tcp_states.h."""


class ProtocolError(AssertionError):
    """Raised if the subject violated the protocol."""


class Reply(NamedTuple):
    verb: str
    arguments: dict[str, str]

    def number(self, key: str) -> int:
        value = self.arguments[key]
        if not re.fullmatch(r"0|[1-9][0-9]*", value, re.ASCII):
            raise ProtocolError(f"{key} is not a decimal number: {value!r}")
        return int(value)


class Subject:
    """A running subject, with the time zone UTC as in benchlab."""

    def __init__(self, program: Sequence[str], directory: Path, **variables: str) -> None:
        """Starts the program, with these environment variables in addition to those of the tests."""
        self._log = tempfile.TemporaryFile()
        # For files that remain after a subject was killed; Java ignores TMPDIR.
        self._temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        place = self._temporary.name
        first, *words = program
        options = [f"-Djava.io.tmpdir={place}", *SHORT_LIVED_JAVA] if first == "java" else []
        self._process = subprocess.Popen(
            [first, *options, *words], cwd=directory, env={**os.environ, "TZ": "UTC", "TMPDIR": place, **variables},
            bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
        self._unread = b""
        self._in_step = True
        self.hello = self._read_reply()

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return 1024 * int(re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)[1])

    def kill(self) -> None:
        """Ends the process, which may have ended before, and releases everything."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._log.close()
        self._temporary.cleanup()

    @property
    def is_usable(self) -> bool:
        """Returns True if the subject is running, and has replied once to each command."""
        return self._in_step and self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def connections_to(self, port: int) -> int:
        """Returns the number of open TCP connections of its process to this port."""
        return len(self.ports_of_connections_to(port))

    def ports_of_connections_to(self, port: int) -> set[int]:
        """Returns the local ports of these connections. The kernel filters them, because /proc/net/tcp also contains
        connections that other tests closed within the last minute."""
        open_files = {_link(path) for path in Path(f"/proc/{self.pid}/fd").iterdir()}
        connections = subprocess.run(["ss", "-Htne", f"dport = :{port}"], capture_output=True, text=True, check=True).stdout
        return {int(local) for local, inode in _CONNECTION.findall(connections) if f"socket:[{inode}]" in open_files}

    def times_open(self, path: Path) -> int:
        """Returns how often its process has the file open."""
        files = (_link(file) for file in Path(f"/proc/{self.pid}/fd").iterdir())
        return sum(file == str(path) for file in files)

    def wait_until_idle(self, port: int) -> None:
        """Waits until the subject, which listens on this port, has handled everything that clients have sent: its sockets
        have no unread data, and all its threads sleep. A fixed pause would be too short on a busy machine."""
        deadline = time.monotonic() + TIMEOUT_S
        idle_checks = 0
        while idle_checks < 5:
            assert time.monotonic() < deadline, "the subject did not become idle in time"
            time.sleep(0.02)
            idle_checks = idle_checks + 1 if not _has_unread_data(port) and self._all_threads_sleep() else 0

    def _all_threads_sleep(self) -> bool:
        try:
            statuses = [(task / "status").read_text() for task in Path(f"/proc/{self.pid}/task").iterdir()]
        except (FileNotFoundError, ProcessLookupError):  # a thread has just ended
            return False
        return all(re.search(r"^State:\s+S ", status, re.MULTILINE) for status in statuses)

    def cpu_time_by_thread(self) -> dict[int, int]:
        """Returns the CPU time in ns, the first number in schedstat."""
        return {int(task.name): int((task / "schedstat").read_text().split()[0])
                for task in Path(f"/proc/{self.pid}/task").iterdir()}

    def ask(self, command: str | bytes) -> Reply:
        """Sends a command, adding its LF, and reads one reply."""
        line = command.encode() if isinstance(command, str) else command
        self._process.stdin.write(line + b"\n")
        return self._read_reply()

    def ask_for(self, verb: str, command: str) -> Reply:
        """Like `ask`, but the reply must have this verb."""
        reply = self.ask(command)
        if reply.verb != verb:
            raise ProtocolError(f"the reply to {command!r} is {reply}; the log of the subject:\n{self._last_log()}")
        return reply

    def ask_for_error(self, command: str | bytes) -> str:
        """Like `ask`, but the reply must be a complete error, whose code is returned."""
        reply = self.ask(command)
        if reply.verb != "error" or not reply.arguments.get("message"):
            raise ProtocolError(f"the reply to {command[:80]!r} is {reply}")
        return reply.arguments["code"]

    def quit(self) -> int:
        """Sends quit and returns the exit status. No reply may remain."""
        self._in_step = False
        self._process.stdin.write(b"quit\n")
        return self._wait()

    def end_input(self) -> int:
        """Ends the subject's input and returns the exit status. No reply may remain."""
        self._in_step = False
        self._process.stdin.close()
        return self._wait()

    def _wait(self) -> int:
        while line := self._read_line():
            if line.startswith(b"@lab "):
                raise ProtocolError(f"an unexpected reply: {line!r}")
        return self._process.wait(TIMEOUT_S)

    def _read_reply(self) -> Reply:
        self._in_step = False
        while line := self._read_line():
            if line.startswith(b"@lab "):
                reply = _parse(line)
                self._in_step = True
                return reply
        raise ProtocolError(f"the subject exited without a reply; its log:\n{self._last_log()}")

    def _last_log(self) -> str:
        """Returns the end of its standard error."""
        log = self._log.fileno()
        return os.pread(log, 2000, max(0, os.fstat(log).st_size - 2000)).decode(errors="replace")

    def _read_line(self) -> bytes:
        """Returns the next line with its LF, or nothing at the end."""
        deadline = time.monotonic() + TIMEOUT_S
        while b"\n" not in self._unread:
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0 or not select.select([self._process.stdout], [], [], remaining_s)[0]:
                raise ProtocolError(f"no complete line within {TIMEOUT_S} s, only {self._unread!r}")
            read = os.read(self._process.stdout.fileno(), 65_536)
            if not read:
                break
            self._unread += read
        line, newline, self._unread = self._unread.partition(b"\n")
        return line + newline


def _has_unread_data(port: int) -> bool:
    """Returns True if an open connection to this port has data that its process has not read."""
    sockets = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(local.endswith(f":{port:04X}") and int(queues.split(":")[1], 16) > 0
               for _, local, _, state, queues, *_ in sockets if state == _ESTABLISHED)


def _parse(line: bytes) -> Reply:
    text = line.decode("ascii", "replace")
    if len(text) > LINE_MAX + 1 or not text.endswith("\n") or not _REPLY.fullmatch(text[:-1]):
        raise ProtocolError(f"the reply is malformed: {line[:500]!r}")
    _, verb, *words = text[:-1].split(" ")
    pairs = [word.split("=", 1) for word in words]
    arguments = {key: unquote(value) for key, value in pairs}
    if len(arguments) != len(pairs):
        raise ProtocolError(f"the reply repeats a key: {line[:500]!r}")
    return Reply(verb, arguments)


def _link(path: Path) -> str:
    """Returns the target of a link, or an empty text if the link no longer exists."""
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""
