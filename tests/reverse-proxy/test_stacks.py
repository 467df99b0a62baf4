# SPDX-License-Identifier: Apache-2.0
"""Stacks of experiments/reverse-proxy: the server in front responds like the application server alone, and
nothing remains at the end."""

import gzip
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from databases import eventually
from experiments import ROOT, Declared, declared_subjects
from subject import Subject

APPLICATION = ROOT / "build/reverse-proxy/app"

TESTED = ("tomcat", "apache-jk", "nginx-tls", "ada-nginx")
"""One stack of each kind: Tomcat alone, over AJP, over HTTP with TLS, and the server in Ada. Each of the others differs
in one line."""


def stacks() -> list[Declared]:
    return [s for s in declared_subjects() if s.experiment == "reverse-proxy" and s.name in TESTED]


class Stack:
    """A subject that is serving."""

    def __init__(self, declared: Declared) -> None:
        self.name = declared.name
        self.subject = Subject(declared.program, ROOT)
        self.opened = self.subject.ask_for("opened", "open case=serve workers=4 files=/ seed=7").arguments
        self.pids = [int(pid) for pid in self.opened["processes"].split(",")]
        certificate = self.opened.get("certificate")
        assert (certificate is not None) == self.opened["url"].startswith("https:")
        self.context = None if certificate is None else ssl.create_default_context(cafile=certificate)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        request = urllib.request.Request(self.opened["url"] + path, method=method, headers={
            name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=60, context=self.context) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()


@pytest.fixture(scope="module", params=stacks(), ids=str)
def running(request: pytest.FixtureRequest) -> Iterator[Stack]:
    if request.param.name.startswith("ada") and not (ROOT / "build/rest/ada/server/subject").exists():
        pytest.skip("the server in Ada is not built")
    stack = Stack(request.param)
    yield stack
    stack.subject.kill()


def test_pages_are_those_of_the_application(running: Stack) -> None:
    status, _, body = running.ask("/api")
    assert (status, body) == (200, b'{"greeting":"Hello World!"}')
    for name in "style.css", "library-1.4.2.js":
        status, _, body = running.ask(f"/files/{name}")
        assert (status, body) == (200, (APPLICATION / "files" / name).read_bytes())
    status, headers, body = running.ask("/files/library-1.4.2.js", Accept_Encoding="gzip")
    assert status == 200 and headers["Content-Encoding"] == "gzip" and len(body) < 160_000
    assert gzip.decompress(body) == (APPLICATION / "files/library-1.4.2.js").read_bytes()


def test_fronts_send_the_same_headers(running: Stack) -> None:
    if running.name == "tomcat":
        return  # Nothing stands in front of it.
    caching = {"style.css": "no-cache", "library-1.4.2.js": "public, max-age=31536000, immutable"}
    for name, expected in caching.items():
        assert running.ask(f"/files/{name}")[1]["Cache-Control"] == expected
    for path in "/api", "/files/style.css":
        headers = running.ask(path)[1]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "X-Powered-By" not in headers and "/" not in headers["Server"]


def test_what_is_refused(running: Stack) -> None:
    assert running.ask("/nothing")[0] == 404
    for path in "/WEB-INF/web.xml", "/web-inf/web.xml", "/files/../WEB-INF/web.xml", "/%57EB-INF/web.xml":
        assert running.ask(path)[0] in (400, 403, 404), path
    for path in "/api", "/files/style.css":
        status, headers, _ = running.ask(path, "DELETE")
        assert status == 405 and "GET" in headers["Allow"], path


def test_it_tells_and_leaves_nothing(running: Stack) -> None:
    """Checks the stack's report and that nothing remains. This must be the last test of a stack."""
    folder = Path(f"/proc/{running.pids[-1]}/cwd").readlink()
    closed = running.subject.ask_for("closed", "close").arguments
    assert float(closed["ready"]) > 0 and float(closed["configuration"]) > 5
    assert closed["redeployments"] == "0"
    assert eventually(lambda: not any(map(exists, running.pids))
                      and not (folder.exists() and folder.name.startswith("lab-daemons")))


def exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
