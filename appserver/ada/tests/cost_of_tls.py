# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Measures what TLS costs, in CPU time and memory of the server process, compared with nginx. Needs nginx, openssl
and wrk, and tls_server as a user builds it:

    appserver/ada/with-crates gprbuild -q -p -P appserver/ada/tests/http_tests.gpr tls_server.adb
    python3 -B appserver/ada/tests/cost_of_tls.py build/appserver/ada/tests/http/as-user/tls_server [ROUNDS]"""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/http"))
import certificates  # noqa: E402

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
HANDSHAKES, IDLE = 1_500, 2_000
NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/errors; worker_rlimit_nofile 20000;
events {{ worker_connections 10000; }}
http {{
    access_log off; default_type text/plain; keepalive_requests 1000000000;
    ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20; ssl_prefer_server_ciphers on;
    ssl_session_cache off; ssl_certificate {folder}/first.pem; ssl_certificate_key {folder}/first.key;
    server {{
        listen 127.0.0.1:{secure} ssl; listen 127.0.0.1:{plain};
        location / {{ return 200 "secure 127.0.0.1 127.0.0.1 https"; }}
    }}
}}
"""
REQUEST = b"GET /connection HTTP/1.1\r\nHost: h\r\n\r\n"


class Server:
    """A server's process, and its ports with and without TLS."""

    def __init__(self, name: str, pid: int, secure: int, plain: int) -> None:
        self.name, self.pid, self.secure, self.plain = name, pid, secure, plain

    def cpu_us(self) -> float:
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1_000

    def private_bytes(self) -> int:
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1_024 for line in lines if line.startswith("Private_Dirty"))

    def connect(self, context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> ssl.SSLSocket:
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.secure)),
                                   server_hostname="first.example", session=session)


def client(version: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = VERSIONS[version]
    return context


def request_us(server: Server, url: str) -> float:
    before = server.cpu_us()
    output = subprocess.run(["wrk", "-t1", "-c32", "-d4s", url], capture_output=True, text=True, check=True).stdout
    return (server.cpu_us() - before) / int(re.search(r"(\d+) requests in", output)[1])


def handshake_us(server: Server, version: str, is_resumed: bool) -> float:
    context, session = client(version), None
    if is_resumed:
        with server.connect(context) as connection:
            connection.sendall(REQUEST)
            connection.recv(1_000)
            session = connection.session
    before = server.cpu_us()
    for _ in range(HANDSHAKES):
        with server.connect(context, session) as connection:
            assert connection.session_reused == is_resumed
    time.sleep(0.1)
    return (server.cpu_us() - before) / HANDSHAKES


def idle_bytes(server: Server, version: str) -> float:
    context = client(version)
    connections: list[ssl.SSLSocket] = []

    def open_more(count: int) -> None:
        for _ in range(count):
            connections.append(server.connect(context))
            connections[-1].sendall(REQUEST)
            assert b" 200 " in connections[-1].recv(1_000)

    open_more(200)
    before = server.private_bytes()
    open_more(IDLE)
    result = (server.private_bytes() - before) / IDLE
    for connection in connections:
        connection.close()
    return result


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


@contextlib.contextmanager
def servers(program: str, folder: Path) -> Iterator[list[Server]]:
    secure, plain = free_port(), free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, secure=secure, plain=plain))
    nginx = subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-e", folder / "errors"])
    own = subprocess.Popen([program, folder, "connections=10000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        found = Server("http_tls", own.pid, int(own.stdout.readline()), int(own.stdout.readline()))
        time.sleep(1)
        workers = subprocess.run(["pgrep", "-P", str(nginx.pid)], capture_output=True, text=True, check=True).stdout
        yield [found, Server("nginx", int(workers.split()[0]), secure, plain)]
    finally:
        nginx.terminate()
        nginx.wait()
        own.stdin.close()
        own.wait()


def main(program: str, rounds: int = 3) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for certificate in ("first", "second"):
            certificates.make_own(folder, certificate, f"{certificate}.example")
        for _ in range(rounds):
            with servers(program, folder) as both:
                for server in both:
                    print(f"{server.name}: request plain {request_us(server, f'http://127.0.0.1:{server.plain}/connection'):.1f} us, "
                          f"TLS {request_us(server, f'https://127.0.0.1:{server.secure}/connection'):.1f} us", flush=True)
                    for version in VERSIONS:
                        print(f"{server.name}: TLS {version}, full {handshake_us(server, version, False):.0f} us, "
                              f"resumed {handshake_us(server, version, True):.0f} us", flush=True)
        # Freed memory would be used again, so each version has its own process
        for version in VERSIONS:
            with servers(program, folder) as both:
                for server in both:
                    print(f"{server.name}: TLS {version}, {idle_bytes(server, version):.0f} bytes of an idle connection", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
