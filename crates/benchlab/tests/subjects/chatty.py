# SPDX-License-Identifier: Apache-2.0
"""A subject whose system calls are known: an operation exchanges a given number of messages over a socket
pair, both ends of which it holds, and calls getppid(2) three times. With a third word `hang` it hangs once it is traced,
and notes its own and its tracer's ids; with `allocate` an operation allocates 100,000 bytes more. It speaks the protocol
without the kit, so that nothing else is called.
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
