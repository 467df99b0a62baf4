# SPDX-License-Identifier: Apache-2.0
"""The servers in appserver/ada/examples, and one of them behind Apache, as http/README.md configures it."""

import gzip
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from client import Answer, Connection, request
from experiments import ROOT
from servers import free_port
from test_behind_proxy import WITHIN_S, certify
from test_events import Stream

PROGRAMS = ROOT / "build/appserver/ada/examples"
APACHE = os.environ.get("APACHE") or shutil.which("apache2", path=os.environ["PATH"] + ":/usr/sbin") or "apache2"
MODULES = ("authz_core", "headers", "mpm_event", "proxy", "proxy_http", "socache_shmcb", "ssl")


class Example:
    """An example's process: it prints its URL, and ends when its input ends."""

    def __init__(self, name: str, *arguments: object) -> None:
        if not (PROGRAMS / name).exists():
            raise FileNotFoundError(f"{name} is missing; build it with\nmake -C appserver/ada http_programs")
        self.process = subprocess.Popen([PROGRAMS / name, "0", *map(str, arguments)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = urlsplit(self.process.stdout.readline().strip()).port

    def ask(self, method: str, path: str, *headers: str, body: bytes = b"") -> Answer:
        with Connection(("127.0.0.1", self.port)) as connection:
            return connection.send(request(method, path, *headers, body=body)).answer(method)

    def close(self) -> int:
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=WITHIN_S)
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture
def run() -> Iterator[Callable[..., Example]]:
    started: list[Example] = []

    def start(*arguments: object) -> Example:
        started.append(Example(*arguments))
        return started[-1]

    yield start
    assert [example.close() for example in started] == [0] * len(started)


def test_hello(run: Callable[..., Example]) -> None:
    hello = run("hello")
    assert hello.ask("GET", "/").body == b"Hello World!"
    assert hello.ask("GET", "/any?name=Ada%20Lovelace").body == b"Hello Ada Lovelace!"


def test_articles_in_a_database(run: Callable[..., Example], tmp_path: Path) -> None:
    article = {"name": "gear \"wheel\"", "stock": 10}
    store = run("article_store", tmp_path)
    created = store.ask("POST", "/articles", body=json.dumps(article).encode())
    assert (created.status, created.json) == (201, {"id": 1})
    assert store.ask("GET", "/articles/1").json == article
    assert store.ask("POST", "/articles", body=json.dumps(article).encode()).status == 409
    assert store.ask("POST", "/articles", body=b'{"name": "lever"}').status == 400
    assert [store.ask("GET", path).status for path in ("/articles/2", "/articles/0", "/other")] == [404, 400, 404]
    again = run("article_store", tmp_path)
    assert again.ask("GET", "/articles/1").json == article


def test_files(run: Callable[..., Example], tmp_path: Path) -> None:
    served = tmp_path / "served"
    (served / "deep").mkdir(parents=True)
    (served / "index.html").write_text("<p>hello")
    (served / "deep" / "data.json").write_text("[]")
    (served / "style.css").write_text("p { margin: 0 }")
    (served / "style.css.gz").write_bytes(gzip.compress(b"p { margin: 0 }"))
    (tmp_path / "secret").write_text("no")
    site = run("static_site", served)
    page = site.ask("GET", "/")
    assert (page.status, page.body, page.get("Content-Type")) == (200, b"<p>hello", "text/html; charset=utf-8")
    assert site.ask("GET", "/", f"If-None-Match: {page.get('ETag')}").status == 304
    assert site.ask("GET", "/deep/data.json").body == b"[]"
    assert [site.ask("GET", path).status for path in ("/none", "/%2e%2e/secret")] == [404, 404]
    assert site.ask("POST", "/").status == 405
    plain, small = site.ask("GET", "/style.css"), site.ask("GET", "/style.css", "Accept-Encoding: gzip")
    assert (plain.body, plain.get("Content-Encoding")) == (b"p { margin: 0 }", None)
    assert (gzip.decompress(small.body), small.get("Content-Encoding")) == (plain.body, "gzip")
    assert plain.get("Content-Type") == small.get("Content-Type") and plain.get("ETag") != small.get("ETag")


def form(*files: bytes) -> bytes:
    parts = [b'--limit\r\nContent-Disposition: form-data; name="p"; filename="../p"\r\n\r\n%b\r\n' % file for file in files]
    return b"".join([*parts, b'--limit\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n', b"--limit--\r\n"])


def test_upload(run: Callable[..., Example], tmp_path: Path) -> None:
    photos = [os.urandom(3_000_000), b"small"]
    upload = run("photo_upload", tmp_path)
    kind = "Content-Type: multipart/form-data; boundary=limit"
    assert upload.ask("POST", "/photos", kind, body=form(*photos)).body == b"2 photos"
    assert upload.ask("POST", "/photos", kind, body=form(b"cut")[:-30]).status == 400
    assert upload.ask("POST", "/photos", body=b"x").status == 415
    assert [upload.ask("GET", path).status for path in ("/photos", "/other")] == [405, 404]
    assert sorted(path.read_bytes() for path in tmp_path.iterdir() if path.stat().st_size > 3) == sorted(photos)


@pytest.fixture
def apache(run: Callable[..., Example], tmp_path: Path) -> Iterator[tuple[int, Example]]:
    """Runs Apache in front of an example. Returns its port and the example."""
    behind, port = run("behind_proxy"), free_port()
    certify(tmp_path)
    page = (ROOT / "appserver/ada/http/README.md").read_text()
    configuration = re.search(r"^```apache\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    for original, instead in (("127.0.0.1:8080", f"127.0.0.1:{behind.port}"), ("*:443", f"127.0.0.1:{port}"),
                              ("/etc/ssl/shop.pem", f"{tmp_path}/certificate"), ("/etc/ssl/shop.key", f"{tmp_path}/key")):
        assert configuration.count(original) == 1, original
        configuration = configuration.replace(original, instead)
    modules = Path(APACHE).parent.parent / "lib/apache2/modules"
    lines = [*(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in MODULES), f"Listen 127.0.0.1:{port}",
             f"PidFile {tmp_path}/pid", f"ErrorLog {tmp_path}/error.log", f"DefaultRuntimeDir {tmp_path}", "ServerName shop.example",
             "StartServers 1", "ServerLimit 1", "ThreadsPerChild 4", "MaxRequestWorkers 4", "ThreadLimit 4"]
    if os.geteuid() == 0:
        lines += ["User nobody", "Group nogroup"]
    (tmp_path / "apache.conf").write_text("\n".join([*lines, configuration]))
    process = subprocess.Popen([APACHE, "-d", tmp_path, "-f", tmp_path / "apache.conf", "-D", "FOREGROUND"])
    limit = time.monotonic() + WITHIN_S
    while subprocess.run(curl(tmp_path, port, "/"), capture_output=True).returncode != 0:
        assert process.poll() is None and time.monotonic() < limit, (tmp_path / "error.log").read_text()
        time.sleep(0.05)
    yield port, behind
    process.terminate()
    process.wait(timeout=WITHIN_S)


def curl(folder: Path, port: int, path: str, *options: str) -> list[str]:
    return ["curl", "-s", "--cacert", f"{folder}/certificate", "--resolve", f"shop.example:{port}:127.0.0.1",
            "--max-time", str(WITHIN_S), *options, f"https://shop.example:{port}{path}"]


def connections_to(port: int) -> set[str]:
    """Returns the remote ends of established connections (proc(5): remote address in hexadecimal, state 1)."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[1] for row in rows if row[2].endswith(f":{port:04X}") and row[3] == "01"}


def test_behind_apache(apache: tuple[int, Example], tmp_path: Path) -> None:
    port, behind = apache
    connections = connections_to(behind.port)
    assert connections, "Apache keeps no connection"
    for invented in ([], ["-H", "X-Forwarded-For: 6.6.6.6", "-H", "X-Forwarded-Host: evil", "-H", "X-Forwarded-Proto: ftp"]):
        reply = subprocess.run(curl(tmp_path, port, "/", *invented), check=True, capture_output=True, text=True)
        assert reply.stdout == f"127.0.0.1 HTTPS_SCHEME shop.example:{port}"
    assert connections_to(behind.port) == connections, "Apache opened another connection"


def test_the_live_counter(run: Callable[..., Example]) -> None:
    """All pages get the same numbers."""
    example = run("live_counter")
    assert b"EventSource" in example.ask("GET", "/").body
    with Stream(("127.0.0.1", example.port)) as first, Stream(("127.0.0.1", example.port)) as second:
        numbers = [int(event.data) for event in first.events(5)]
        assert numbers == list(range(numbers[0], numbers[0] + 5)) and first.parser.last_id.strip()
        assert second.events(1)[0].data
