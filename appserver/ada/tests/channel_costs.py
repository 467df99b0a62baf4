# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Measures the CPU time of a WebSocket server per message: python3 channel_costs.py COMMAND…

The server prints its port, echoes messages on /socket, and sends messages on /socket/room to all connections there."""

import os
import resource
import selectors
import socket
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent.parent.parent / "tests"
sys.path[:1] = [str(TESTS / "http")]
from websocket import TEXT, frame, handshake  # noqa: E402

MESSAGE = frame(TEXT, b"m" * 100)
REPLY_SIZE = 102
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = ("127.0.0.1", int(self.process.stdout.readline()))

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def open(self, path: str) -> socket.socket:
        client = socket.create_connection(self.address)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(handshake(path))
        received = b""
        while b"\r\n\r\n" not in received:
            received += client.recv(4_096)
        return client


def take(client: socket.socket, size: int) -> None:
    while size:
        size -= len(client.recv(size))


def echo(server: Server, connections: int, messages: int) -> float:
    """Returns the CPU time of the server per message, in seconds, if each connection waits for a reply before it sends its next message."""
    selector = selectors.DefaultSelector()
    left = {server.open("/socket"): messages for _ in range(connections)}
    for client in left:
        selector.register(client, selectors.EVENT_READ)
    before = server.cpu_s()
    for client in left:
        client.sendall(MESSAGE)
    while left:
        for key, _ in selector.select():
            client = key.fileobj
            take(client, REPLY_SIZE)
            left[client] -= 1
            if left[client]:
                client.sendall(MESSAGE)
            else:
                selector.unregister(client)
                del left[client]
                client.close()
    return (server.cpu_s() - before) / (connections * messages)


def pipelined(server: Server, batches: int, size: int) -> float:
    client = server.open("/socket")
    before = server.cpu_s()
    for _ in range(batches):
        client.sendall(MESSAGE * size)
        take(client, REPLY_SIZE * size)
    used = server.cpu_s() - before
    client.close()
    return used / (batches * size)


def broadcast(server: Server, connections: int, messages: int) -> float:
    clients = [server.open("/socket/room") for _ in range(connections)]
    time.sleep(0.5)
    before = server.cpu_s()
    for _ in range(messages):
        clients[0].sendall(MESSAGE)
        for client in clients:
            take(client, REPLY_SIZE)
    used = server.cpu_s() - before
    for client in clients:
        client.close()
    return used / (connections * messages)


def main() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = Server(sys.argv[1:])
    try:
        for name, cost_s in (("echo, 50 connections", echo(server, 50, 2_000)),
                             ("echo, 50 messages at a time", pipelined(server, 1_000, 50)),
                             ("broadcast to 1,000, per recipient", broadcast(server, 1_000, 100))):
            print(f"{name}: {cost_s * 1e6:.1f} µs of CPU time")
    finally:
        server.process.kill()


main()
