# SPDX-License-Identifier: Apache-2.0
"""The configuration of nginx in appserver/ada/HTTP.md: TLS and HTTP/2 in front of a server."""

import os
import re
import shutil
import socket
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments import ROOT
from test_services import Program, possible  # noqa: F401

NGINX = os.environ.get("NGINX") or shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or "nginx"
WITHIN_S = 30

def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def certify(folder: Path) -> None:
    """Writes a key, and a certificate of its own for it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=shop.example",
                    "-addext", "subjectAltName=DNS:shop.example", "-keyout", folder / "key", "-out", folder / "certificate"],
                   check=True, capture_output=True)


def shown() -> str:
    """As HTTP.md has it."""
    page = (ROOT / "appserver/ada/HTTP.md").read_text()
    return re.search(r"^```nginx\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]


class Front:
    """nginx in front of a program, with a certificate of its own."""

    def __init__(self, folder: Path, program: Program) -> None:
        self.port = free_port()
        self.folder = folder
        certify(folder)
        changed = shown()
        for is_there, instead in (("127.0.0.1:8080", f"127.0.0.1:{program.addresses[0][1]}"),
                                  ("listen 443", f"listen 127.0.0.1:{self.port}"),
                                  ("/etc/ssl/shop.pem", str(folder / "certificate")),
                                  ("/etc/ssl/shop.key", str(folder / "key"))):
            assert changed.count(is_there) == 1, is_there
            changed = changed.replace(is_there, instead)
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.configuration = folder / "nginx.conf"
        user = "user root;\n" if os.geteuid() == 0 else ""
        self.configuration.write_text(f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{ }}\n"
                                      f"http {{\naccess_log off;\n{temporary}{changed}}}\n")
        self.command = [NGINX, "-e", folder / "error.log", "-p", folder, "-c", self.configuration]
        subprocess.run([*self.command, "-t"], check=True, capture_output=True)
        self.process = subprocess.Popen(self.command)
        limit = time.monotonic() + WITHIN_S
        while not self.is_there():
            assert self.process.poll() is None and time.monotonic() < limit, (folder / "error.log").read_text()
            time.sleep(0.01)

    def is_there(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def ask(self, path: str, *options: str) -> tuple[str, bytes]:
        """The version and status, and the content."""
        asked = subprocess.run(
            ["curl", "-s", "--http2", "--cacert", self.folder / "certificate",
             "--resolve", f"shop.example:{self.port}:127.0.0.1", "-o", self.folder / "answer",
             "-w", "%{http_version} %{http_code}", "--max-time", str(WITHIN_S), *options,
             f"https://shop.example:{self.port}{path}"], check=True, capture_output=True, text=True)
        return asked.stdout, (self.folder / "answer").read_bytes()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=WITHIN_S)


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    program = Program("streams_server", "server", "60")
    front = Front(tmp_path_factory.mktemp("front"), program)
    yield front
    front.close()
    program.end()
    program.close()


def test_the_client_and_its_scheme(front: Front) -> None:
    for invented in ([], ["-H", "X-Forwarded-For: 6.6.6.6", "-H", "X-Forwarded-Host: evil", "-H", "X-Forwarded-Proto: ftp"]):
        assert front.ask("/x-forwarded", *invented) == ("2 200", b"127.0.0.1 https shop.example")


@pytest.mark.parametrize("field", ["X: y", "Transfer-Encoding: chunked"])
def test_an_upload(front: Front, field: str) -> None:
    content = os.urandom(3_000_000)
    (front.folder / "sent").write_bytes(content)
    assert front.ask("/upload/count", "--data-binary", f"@{front.folder}/sent", "-H", field) == (
        "2 200", b"%d %d" % (len(content), zlib.crc32(content)))


def test_a_stream(front: Front) -> None:
    assert front.ask("/stream?size=3000000") == ("2 200", (bytes(range(251)) * 12_000)[:3_000_000])
