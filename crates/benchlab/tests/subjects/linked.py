# SPDX-License-Identifier: Apache-2.0
"""A client and a server at the two ends of a link. An operation sends the number of bytes in the sweep, and receives two
bytes. The first argument is the number of additional bytes, and the second is a log file for the arguments of
`open`."""

import socket
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote

MORE, NOTES = int(sys.argv[1]), Path(sys.argv[2])


def say(line: str) -> None:
    print(line, flush=True)


def serve(listener: socket.socket, length: int) -> None:
    connection, _ = listener.accept()
    while received := connection.recv(1):
        while len(received) < length:
            received += connection.recv(length - len(received))
        connection.sendall(b"ok")


def exchange(client: socket.socket, length: int) -> None:
    client.sendall(bytes(length))
    while reply := client.recv(2):
        if len(reply) == 2:
            return


client, listener, length = socket.socket(), socket.socket(), 0
say(f"@lab hello protocol=1 subject=linked thread={threading.get_native_id()} runtime=none library=none")
for line in sys.stdin:
    verb, *words = line.split()
    args = dict(word.split("=", 1) for word in words)
    count = int(args.get("operations", "1"))
    work = f"operations={count} units={count} check={count}"
    if verb == "open":
        host, port = unquote(args["address"]).split(":")
        length = int(args["bytes"]) + MORE
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(unquote(args["socket"]))
        listener.listen()
        threading.Thread(target=serve, args=(listener, length), daemon=True).start()
        client = socket.create_connection((host, int(port)))
        with NOTES.open("a") as notes:
            notes.write(f"{args['link']} {args['packet']} {args['bytes']}\n")
        say("@lab opened")
    elif verb in ("run", "verify"):
        start = time.monotonic_ns()
        for _ in range(count):
            exchange(client, length)
        end = time.monotonic_ns()
        say(f"@lab ran start={start} end={end} {work}" if verb == "run" else f"@lab verified {work}")
    elif verb == "close":
        client.close()
        listener.close()
        say("@lab closed")
    else:
        break
