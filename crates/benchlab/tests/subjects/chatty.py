# SPDX-License-Identifier: Apache-2.0
"""A subject with known system calls. An operation exchanges a given number of messages over a socket pair within the
process, and calls getppid(2) three times. With the third argument `hang`, the subject hangs when it is traced, and
records its own and its tracer's process IDs. With `allocate`, an operation also allocates 100,000 bytes. The subject
does not use the kit, whose system calls would be counted as well.
"""

import os
import socket
import sys
import time
from pathlib import Path

from by_hand import commands, say

EXCHANGES = int(sys.argv[1])
HANGS = sys.argv[2:] == ["hang"]
ALLOCATES = sys.argv[2:] == ["allocate"]


def tracer() -> str:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in status if line.startswith("TracerPid"))


def operate(near: socket.socket, far: socket.socket) -> None:
    for _ in range(EXCHANGES):
        near.send(b"abc")
        far.recv(99)
        far.send(b"hello")
        near.recv(99)
    for _ in range(3):
        os.getppid()
    if ALLOCATES:
        bytearray(100_000)


NEAR, FAR = socket.socketpair()
for verb, arguments, work in commands("chatty"):
    if verb == "run":
        if HANGS and tracer() != "0":
            Path("draft").write_text(f"{os.getpid()} {tracer()}")
            Path("draft").rename("hanging")
            time.sleep(1000)
        start = time.monotonic_ns()
        for _ in range(int(arguments["operations"])):
            operate(NEAR, FAR)
        say(f"@lab ran start={start} end={time.monotonic_ns()} {work}")
