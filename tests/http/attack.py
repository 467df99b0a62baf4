# SPDX-License-Identifier: Apache-2.0
"""The size of attacks, and the resources that a server may still use after an attack."""

import argparse
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from databases import eventually
from servers import Server
from test_connections import must_fall_to

SPARE_BYTES = 500_000
"""Allowed variation of memory with the serving threads and the waiting requests: less than 5,000 clients of
220 bytes each."""


@dataclass(frozen=True)
class Size:
    slow: int
    """Clients that send one byte at a time."""
    leaving: int
    """Clients that disconnect at any point."""
    readers: int
    """Clients that read a large file slowly."""
    resets: int
    """Clients that reset the connection in the middle of a file."""
    streamed: int
    """Bytes of content that does not fit into memory."""
    random_s: float
    """Seconds for which random requests are compared with Go's responses."""


SHORT = Size(slow=60, leaving=300, readers=12, resets=60, streamed=200_000_000, random_s=5)


def full(random_s: float) -> Size:
    return Size(slow=1000, leaving=5000, readers=200, resets=1000, streamed=10**9, random_s=random_s)


def seconds(text: str) -> float:
    """Returns the seconds in a time such as 90s, 30m or 1h."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 90s, 30m or 1h")
    return int(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


@dataclass(frozen=True)
class Resources:
    """The files, threads and memory that a server uses."""

    files: int
    threads: int
    bytes: int


def resources_of(server: Server) -> Resources:
    process = Path(f"/proc/{server.subject.pid}")
    status = (process / "status").read_text()
    # Without pages of files, which the system discards and reads again.
    memory = sum(int(re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)[1]) for name in ("RssAnon", "VmSwap"))
    return Resources(server.open_files, len(os.listdir(process / "task")), 1024 * memory)


def must_hold_no_more(server: Server, before: Resources) -> None:
    assert server.is_usable
    server.must_serve()
    must_fall_to(server, before.files)
    eventually(lambda: resources_of(server).threads <= before.threads)
    after = resources_of(server)
    assert after.threads == before.threads, f"{after.threads} threads, {before.threads} before"
    assert after.bytes <= before.bytes + SPARE_BYTES, f"{after.bytes} bytes, {before.bytes} before"


def must_withstand(server: Server, attack: Callable[[], None]) -> None:
    """Runs the attack twice: the server must not use more after the second one than after the first."""
    for _ in range(50):
        server.must_serve()
    files = server.open_files
    attack()
    server.must_serve()
    must_fall_to(server, files)
    before = resources_of(server)
    attack()
    must_hold_no_more(server, before)
