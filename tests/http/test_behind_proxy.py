# SPDX-License-Identifier: Apache-2.0
"""The configurations of nginx in appserver/ada/http/README.md: TLS, HTTP/2 and WebSocket in front of a server."""

import base64
import hashlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from experiments import ROOT
from servers import free_port
from test_services import Program

NGINX = os.environ.get("NGINX") or shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or "nginx"
WITHIN_S = 60


def certify(folder: Path) -> None:
    """Writes a key and a self-signed certificate for it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=shop.example",
                    "-addext", "subjectAltName=DNS:shop.example", "-keyout", folder / "key", "-out", folder / "certificate"],
                   check=True, capture_output=True)


def documented() -> list[str]:
    """Returns the configurations of nginx in http/README.md."""
    page = (ROOT / "appserver/ada/http/README.md").read_text()
    return re.findall(r"^```nginx\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


class Proxy:
    """nginx in front of a program's port, with a self-signed certificate."""

    def __init__(self, folder: Path, behind: int, configuration_text: str, modules: str = "") -> None:
        self.port = free_port()
        self.folder = folder
        certify(folder)
        for original, instead in (("127.0.0.1:8080", f"127.0.0.1:{behind}"),
                                  ("listen 443", f"listen 127.0.0.1:{self.port}"),
                                  ("/etc/ssl/shop.pem", str(folder / "certificate")),
                                  ("/etc/ssl/shop.key", str(folder / "key"))):
            assert configuration_text.count(original) == 1, original
            configuration_text = configuration_text.replace(original, instead)
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.configuration = folder / "nginx.conf"
        user = "user root;\n" if os.geteuid() == 0 else ""
        self.configuration.write_text(f"{modules}{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{ }}\n"
                                      f"http {{\naccess_log off;\n{temporary}{configuration_text}}}\n")
        self.command = [NGINX, "-e", folder / "error.log", "-p", folder, "-c", self.configuration]
        subprocess.run([*self.command, "-t"], check=True, capture_output=True)
        self.process = subprocess.Popen(self.command)
        limit = time.monotonic() + WITHIN_S
        while not self.is_listening():
            assert self.process.poll() is None and time.monotonic() < limit, (folder / "error.log").read_text()
            time.sleep(0.01)

    def is_listening(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def ask(self, path: str, *options: str) -> tuple[str, bytes]:
        """Returns the version and status, and the content."""
        reply = subprocess.run(
            ["curl", "-s", "--http2", "--cacert", self.folder / "certificate",
             "--resolve", f"shop.example:{self.port}:127.0.0.1", "-o", self.folder / "answer",
             "-w", "%{http_version} %{http_code}", "--max-time", str(WITHIN_S), *options,
             f"https://shop.example:{self.port}{path}"], check=True, capture_output=True, text=True)
        return reply.stdout, (self.folder / "answer").read_bytes()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=WITHIN_S)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    program = Program("streams_server", "server", "60")
    proxy = Proxy(tmp_path_factory.mktemp("proxy"), program.addresses[0][1], documented()[0])
    yield proxy
    proxy.close()
    program.end()
    program.close()


def test_the_client_and_its_scheme(proxy: Proxy) -> None:
    for invented in ([], ["-H", "X-Forwarded-For: 6.6.6.6", "-H", "X-Forwarded-Host: evil", "-H", "X-Forwarded-Proto: ftp"]):
        assert proxy.ask("/x-forwarded", *invented) == ("2 200", b"127.0.0.1 https shop.example")


@pytest.mark.parametrize("field", ["X: y", "Transfer-Encoding: chunked"])
def test_an_upload(proxy: Proxy, field: str) -> None:
    content = os.urandom(3_000_000)
    (proxy.folder / "sent").write_bytes(content)
    assert proxy.ask("/upload/count", "--data-binary", f"@{proxy.folder}/sent", "-H", field) == (
        "2 200", b"%d %d" % (len(content), zlib.crc32(content)))


def test_a_stream(proxy: Proxy) -> None:
    assert proxy.ask("/stream?size=3000000") == ("2 200", (bytes(range(251)) * 12_000)[:3_000_000])


# -- WebSocket (RFC 6455) ----------------------------------------------------------------------------

TEXT, CLOSE, PING, PONG = 0x81, 0x88, 0x89, 0x8A
"""The first byte of whole frames of these kinds (5.2)."""


class Hearer:
    """A client that receives the messages of a chat room."""

    def __init__(self, proxy: Proxy, room: str) -> None:
        context = ssl.create_default_context(cafile=proxy.folder / "certificate")
        plain = socket.create_connection(("127.0.0.1", proxy.port), timeout=WITHIN_S)
        self.socket = context.wrap_socket(plain, server_hostname="shop.example")
        self.received = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16))
        self.socket.sendall(b"GET /hear/%s HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (room.encode(), key))
        self.status = int(self.received.readline().split()[1])
        fields = dict(line.lower().split(b": ", 1) for line in iter(self.received.readline, b"\r\n"))
        if self.status == 101:
            proof = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            assert fields[b"sec-websocket-accept"].strip() == proof.lower()

    def frame(self) -> tuple[int, bytes]:
        kind, size = self.received.read(2)
        if size >= 126:
            size = int.from_bytes(self.received.read(2 if size == 126 else 8))
        return kind, self.received.read(size)

    def send(self, kind: int, content: bytes) -> None:
        """Sends a masked frame, as clients do (5.3)."""
        mask = os.urandom(4)
        self.socket.sendall(bytes([kind, 0x80 | len(content)]) + mask
                            + bytes(byte ^ mask[at % 4] for at, byte in enumerate(content)))

    def close(self) -> None:
        self.received.close()
        self.socket.close()


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    modules = Path(NGINX).parent.parent / "lib/nginx/modules/ngx_nchan_module.so"
    publisher = free_port()
    chat = subprocess.Popen([ROOT / "build/appserver/ada/examples/chat", "0", str(publisher)], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    proxy, inside, outside = documented()
    assert proxy.endswith("}\n") and outside.count("127.0.0.1:8081") == 1
    configuration_text = proxy[:-2] + inside + "}\n" + outside.replace("127.0.0.1:8081", f"127.0.0.1:{publisher}")
    talk = Proxy(tmp_path_factory.mktemp("talk"), urlsplit(chat.stdout.readline().strip()).port, configuration_text,
                 f"load_module {modules};\n")
    yield talk
    talk.close()
    chat.stdin.close()
    assert chat.wait(timeout=WITHIN_S) == 0


def test_what_is_said_is_heard(talk: Proxy) -> None:
    hearers = [Hearer(talk, "garden") for _ in range(3)]
    elsewhere = Hearer(talk, "cellar")
    for message in ("hello", "gr\u00fc\u00df", "x" * 60_000):
        (talk.folder / "said").write_text(message)
        assert talk.ask("/say?room=garden", "--data-binary", f"@{talk.folder}/said") == ("2 204", b"")
        assert [hearer.frame() for hearer in hearers] == [(TEXT, message.encode())] * 3
    hearers[0].send(PING, b"there?")
    assert hearers[0].frame() == (PONG, b"there?")
    hearers[0].send(CLOSE, b"\x03\xe8")
    assert hearers[0].frame()[0] == CLOSE
    talk.ask("/say?room=cellar", "-d", "only here")
    assert elsewhere.frame() == (TEXT, b"only here")
    for hearer in (*hearers, elsewhere):
        hearer.close()


def test_who_may_not_hear_or_speak(talk: Proxy) -> None:
    refused = Hearer(talk, "closed")
    assert refused.status == 403
    refused.close()
    assert talk.ask("/say?room=closed", "-d", "x")[0] == "2 403"
    (talk.folder / "said").write_bytes(b"no UTF-8: \xff")
    assert talk.ask("/say?room=garden", "--data-binary", f"@{talk.folder}/said")[0] == "2 400"
