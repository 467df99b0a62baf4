# SPDX-License-Identifier: Apache-2.0
"""The configurations of nginx in appserver/ada/http/README.md: TLS, HTTP/2 and WebSocket in front of a server."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

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

    def __init__(self, folder: Path, behind: int, configuration_text: str) -> None:
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
        self.configuration.write_text(f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{ }}\n"
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

@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    chat = subprocess.Popen([ROOT / "build/appserver/ada/examples/chat", "0"], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    proxy, inside = documented()
    assert proxy.endswith("}\n")
    talk = Proxy(tmp_path_factory.mktemp("talk"), urlsplit(chat.stdout.readline().strip()).port, proxy[:-2] + inside + "}\n")
    yield talk
    talk.close()
    chat.stdin.close()
    assert chat.wait(timeout=WITHIN_S) == 0


def enter(talk: Proxy, room: str, origin: str) -> connect:
    """Returns a context manager of a connection."""
    context = ssl.create_default_context(cafile=talk.folder / "certificate")
    plain = socket.create_connection(("127.0.0.1", talk.port), timeout=WITHIN_S)
    return connect(f"wss://shop.example:{talk.port}/socket?room={room}", sock=plain, ssl=context, origin=origin)


def test_a_chat(talk: Proxy) -> None:
    with ExitStack() as stack:
        members = [stack.enter_context(enter(talk, "garden", "https://shop.example")) for _ in range(3)]
        elsewhere = stack.enter_context(enter(talk, "cellar", "https://shop.example"))
        for message in ("hello", "gr\u00fc\u00df", "x" * 60_000):
            members[1].send(message)
            assert [member.recv(WITHIN_S) for member in members] == [message] * 3
        elsewhere.send("only here")
        assert elsewhere.recv(WITHIN_S) == "only here"
        members[0].send(b"no text")
        with pytest.raises(ConnectionClosed) as closed:
            members[0].recv(WITHIN_S)
        assert closed.value.rcvd.code == 1003


@pytest.mark.parametrize("room, origin, status", [
    ("attic", "https://shop.example", 404), ("garden", "https://evil.example", 403)])
def test_who_may_not_enter(talk: Proxy, room: str, origin: str, status: int) -> None:
    with pytest.raises(InvalidStatus) as refused, enter(talk, room, origin):
        pass
    assert refused.value.response.status_code == status
