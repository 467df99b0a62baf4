# SPDX-License-Identifier: Apache-2.0
"""Runs the subject, built with sanitizers, as benchlab does, and sends requests over real connections."""

import http.client
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = HERE / "../../../../build/rest/c/sanitized"
ORDER = (HERE / "../../order.json").read_bytes()
GREETING = b'{"greeting":"Hello World!"}'


def request(method: str, target: str, body: bytes = b"", *fields: str) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *fields]
    if body and "Transfer-Encoding: chunked" not in fields:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunks(body: bytes, size: int) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)] + [b""]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


class Connection:
    """A connection for arbitrary requests."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.socket.sendall(piece)

    def answer(self, head: bool = False) -> tuple[int, dict[str, str], bytes]:
        status = int(self.file.readline().split()[1])
        fields = {}
        while line := self.file.readline().decode().strip():
            name, value = line.split(": ", 1)
            fields[name] = value
        length = 0 if head else int(fields.get("Content-Length", 0))
        return status, fields, self.file.read(length)

    def is_closed(self) -> bool:
        return self.file.read(1) == b""


class Subject(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.content = os.urandom(65536)
        (Path(self.folder.name) / "64k.bin").write_bytes(self.content)
        (Path(self.folder.name) / "empty").touch()
        (Path(self.folder.name) / "link").symlink_to("/etc/passwd")
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reply()
        opened = self.ask(f"open case=serve workers=8 files={self.folder.name} seed=7")
        found = re.fullmatch(r"@lab opened url=http://127\.0\.0\.1:(\d+) workers=0 loops=1", opened)
        self.assertTrue(found, opened)
        self.port = int(found[1])

    def tearDown(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.assertEqual(self.process.wait(20), 0)
        self.folder.cleanup()

    def reply(self) -> str:
        return self.process.stdout.readline().strip()

    def ask(self, command: str) -> str:
        print(command, file=self.process.stdin, flush=True)
        return self.reply()

    def connect(self) -> Connection:
        return Connection(self.port)

    def get(self, method: str, target: str, body: bytes = b"", *fields: str) -> tuple[int, dict[str, str], bytes]:
        with self.connect() as connection:
            connection.send(request(method, target, body, *fields))
            return connection.answer(method == "HEAD")

    def test_answers(self) -> None:
        status, fields, body = self.get("GET", "/api")
        self.assertEqual((status, fields["Content-Type"], body), (200, "application/json", GREETING))
        for target, value in {
            "/api/built?number=17": {"greeting": "Hello World!", "number": 17},
            "/api/built?a=1&number=999999&b": {"greeting": "Hello World!", "number": 999999},
            "/api/hello/O'Neil%20%22X%22": {"greeting": "Hello O'Neil \"X\"!"},
            "/api/hello/" + 32 * "a": {"greeting": "Hello " + 32 * "a" + "!"},
        }.items():
            status, _, body = self.get("GET", target)
            self.assertEqual((status, json.loads(body)), (200, value), target)
        for sent in (ORDER, ORDER + 60_000 * b" "):
            status, _, body = self.get("POST", "/api/echo", sent)
            self.assertEqual((status, json.loads(body)), (200, json.loads(ORDER)))
        self.assertEqual(self.get("GET", "/files/64k.bin")[2], self.content)
        self.assertEqual(self.get("GET", "/files/empty")[::2], (200, b""))

    def test_refusals(self) -> None:
        bad = ["/api/built", "/api/built?number=", "/api/built?number=1000000", "/api/built?xnumber=1",
               "/api/built?number=-1", "/api/hello/" + 33 * "a", "/api/hello/%C3%A9", "/api/hello/a%", "/api/hello/a%00"]
        missing = ["/", "/api/", "/api/hello/", "/api/hello/a/b", "/files/", "/files/.", "/files/..%2Fx", "/files/x",
                   "/files/link", "/files/%2Fetc%2Fpasswd", "/files/../64k.bin"]
        for status, targets in (400, bad), (404, missing):
            for target in targets:
                self.assertEqual(self.get("GET", target)[0], status, target)
        for method, target, allow in (
            ("POST", "/api", "GET, HEAD"), ("PUT", "/api/built", "GET, HEAD"), ("DELETE", "/api/hello/x", "GET, HEAD"),
            ("GET", "/api/echo", "POST"), ("HEAD", "/api/echo", "POST"), ("PATCH", "/files/64k.bin", "GET, HEAD"),
        ):
            status, fields, _ = self.get(method, target)
            self.assertEqual((status, fields["Allow"]), (405, allow), (method, target))
        self.assertEqual(self.get("POST", "/api/echo", b"{")[0], 400)
        self.assertEqual(self.get("POST", "/api/echo", 65537 * b" ")[0], 413)

    def test_head_is_get_without_its_body(self) -> None:
        for target in ("/api", "/api/built?number=1", "/api/hello/x", "/files/64k.bin", "/files/x"):
            with self.connect() as connection:
                connection.send(request("HEAD", target), request("GET", target))
                head, got = connection.answer(head=True), connection.answer()
            for _, fields, _ in (head, got):
                del fields["Date"]
            self.assertEqual(head[:2], got[:2])

    def test_requests_in_pieces(self) -> None:
        chunked = request("POST", "/api/echo", chunks(ORDER, 100), "Transfer-Encoding: chunked")
        for whole in (request("GET", "/api"), request("POST", "/api/echo", ORDER), chunked):
            with self.connect() as connection:
                for at in range(0, len(whole), 37):
                    connection.send(whole[at : at + 37])
                    time.sleep(0.002)
                self.assertEqual(connection.answer()[0], 200)
                connection.send(request("GET", "/api"))
                self.assertEqual(connection.answer()[2], GREETING)

    def test_pipelines_for_a_slow_reader(self) -> None:
        with self.connect() as connection:
            connection.send(*[request("GET", "/files/64k.bin") + request("POST", "/api/echo", ORDER)] * 100)
            time.sleep(0.3)
            for _ in range(100):
                self.assertEqual(connection.answer()[2], self.content)
                self.assertEqual(json.loads(connection.answer()[2]), json.loads(ORDER))

    def test_expect_continue(self) -> None:
        whole = request("POST", "/api/echo", ORDER, "Expect: 100-continue")
        with self.connect() as connection:
            connection.send(whole[: -len(ORDER)])
            self.assertEqual(connection.answer()[0], 100)
            connection.send(ORDER)
            self.assertEqual(connection.answer()[0], 200)

    def test_ends_of_connections(self) -> None:
        for bytes_, status in (
            (request("GET", "/api", b"", "Connection: close"), 200),
            (b"GET /api HTTP/1.0\r\n\r\n", 200),
            (b"nonsense\r\n\r\n" + 100_000 * b"x", 400),
        ):
            with self.connect() as connection:
                connection.send(bytes_)
                answered, fields, _ = connection.answer()
                self.assertEqual((answered, fields["Connection"]), (status, "close"))
                self.assertTrue(connection.is_closed())
        with self.connect() as connection:
            connection.send(request("GET", "/api"))
            connection.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(connection.answer()[0], 200)
            self.assertTrue(connection.is_closed())

    def test_many_connections(self) -> None:
        connections = [self.connect() for _ in range(450)]  # with their files, below the limit of 1,024 descriptors
        for connection in connections:
            connection.send(request("GET", "/api"))
        self.assertTrue(all(connection.answer()[0] == 200 for connection in connections))
        for connection in connections:
            connection.__exit__()

    def test_commands_while_it_serves(self) -> None:
        for command in ("run operations=1", "verify"):
            self.assertTrue(self.ask(command).startswith("@lab error code=unsupported "))
        self.assertEqual(self.get("GET", "/api")[0], 200)
        self.assertEqual(self.ask("close"), "@lab closed")
        with self.assertRaises(ConnectionRefusedError):
            self.connect()
        self.assertTrue(self.ask("open case=serve workers=8 seed=7").startswith("@lab error code=usage "))
        self.assertTrue(self.ask("open case=serve workers=8 seed=7 files=/none").startswith("@lab error code=failed "))

    def test_closes_gracefully_under_load(self) -> None:
        """Each request gets a response, the last one with Connection: close."""
        lost = []

        def ask_on() -> None:
            client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            client.connect()
            ready.wait()
            try:
                last = None
                while last is None:
                    client.request("GET", "/api")
                    answer = client.getresponse()
                    last = answer.headers["Connection"]
                    answer.read()
            except (OSError, http.client.HTTPException) as error:
                lost.append(error)

        ready = threading.Barrier(9)
        threads = [threading.Thread(target=ask_on) for _ in range(8)]
        for thread in threads:
            thread.start()
        ready.wait()
        self.assertEqual(self.ask("close"), "@lab closed")
        for thread in threads:
            thread.join()
        self.assertEqual(lost, [])


if __name__ == "__main__":
    unittest.main()
