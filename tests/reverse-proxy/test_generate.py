# SPDX-License-Identifier: Apache-2.0
"""`experiments/reverse-proxy/generate`: which paths Apache may serve itself, archives and arguments that must
be rejected, and applications whose configuration it writes and verifies, and whose start it describes."""

import http.client
import os
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments import ROOT

EXPERIMENT = ROOT / "experiments/reverse-proxy"
# Appended at the end, because the tests have their own module `subject`.
sys.path += [str(EXPERIMENT), str(ROOT / "kits/python/src")]

import stack  # noqa: E402
import verify  # noqa: E402
from archives import ArchiveError, doubtful, explode, sources, static_files  # noqa: E402
from lab_kit.daemons import program  # noqa: E402
from servers import free_port  # noqa: E402

WEB = """<?xml version="1.0"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
  <servlet><servlet-name>s</servlet-name><servlet-class>benchlab.reverseproxy.Greeting</servlet-class></servlet>
  {mappings}
</web-app>"""


def mapping(pattern: str, kind: str = "servlet-mapping") -> str:
    inner = f"<url-pattern>{pattern}</url-pattern>"
    if kind == "security-constraint":
        return f"<{kind}><web-resource-collection>{inner}</web-resource-collection></{kind}>"
    name = "filter-name" if kind == "filter-mapping" else "servlet-name"
    return f"<{kind}><{name}>s</{name}>{inner}</{kind}>"


def archive(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return path


FILES = {"css/a.css": "a{}", "css/deep/b.css": "b{}", "img/logo.svg": "<svg/>", "pages/a.jsp": "x",
         "pages/a.css": "c{}", "index.html": "<p>", "with space.txt": "x", "META-INF/MANIFEST.MF": "x"}


@pytest.mark.parametrize(("mappings", "static"), [
    ([mapping("/api")], ["/css", "/img", "/index.html", "/pages/a.css"]),
    # The default servlet serves files.
    ([mapping("/")], ["/css", "/img", "/index.html", "/pages/a.css"]),
    ([mapping("/css/deep/*")], ["/css/a.css", "/img", "/index.html", "/pages/a.css"]),
    ([mapping("/css/made.css")], ["/css/a.css", "/css/deep/b.css", "/img", "/index.html", "/pages/a.css"]),
    ([mapping("*.svg")], ["/css/a.css", "/css/deep/b.css", "/index.html", "/pages/a.css"]),
    ([mapping("/img/*", "security-constraint")], ["/css", "/index.html", "/pages/a.css"]),
    ([mapping("/css/*", "filter-mapping")], ["/img", "/index.html", "/pages/a.css"]),
    ([mapping("/*", "filter-mapping")], []),
])
def test_what_apache_may_serve(tmp_path: Path, mappings: list[str], static: list[str]) -> None:
    web = {"WEB-INF/web.xml": WEB.format(mappings="\n".join(mappings))}
    [application] = explode(archive(tmp_path / "shop##2.war", FILES | web), tmp_path / "app")
    assert application.context == "/shop"
    assert list(application.static) == static
    # The single files of a directory are recognized as files.
    assert all((path in application.files) == (application.folder / path[1:]).is_file() for path in static)


def test_no_file_of_another_application_is_served(tmp_path: Path) -> None:
    """The proxy does not serve an application's directory if another application is in it, or responds there."""
    page = {"WEB-INF/web.xml": "<web-app/>"}
    wars = {"ROOT.war": {"a/x.css": "x", "b/x.css": "x", "c/x.css": "x"}, "a#deep.war": {"cart.jsp": "source"}, "b.war": {"y.css": "y"}}
    names = {name: archive(tmp_path / name, files | page).read_bytes() for name, files in wars.items()}
    applications = explode(archive(tmp_path / "shop.ear", names), tmp_path / "app")
    assert {app.context: app.static for app in applications} == {"": ["/c"], "/a/deep": [], "/b": ["/y.css"]}


def test_an_ear_has_its_applications_where_it_says(tmp_path: Path) -> None:
    shop, root = (archive(tmp_path / name, {"a.css": name}).read_bytes() for name in ("s.war", "r.war"))
    descriptor = """<application xmlns="https://jakarta.ee/xml/ns/jakartaee" version="10">
        <module><web><web-uri>s.war</web-uri><context-root>/shop/new</context-root></web></module>
        <module><web><web-uri>r.war</web-uri><context-root>/</context-root></web></module></application>"""
    ear = archive(tmp_path / "all.ear", {"s.war": shop, "r.war": root, "META-INF/application.xml": descriptor})
    applications = explode(ear, tmp_path / "app")
    assert [application.context for application in applications] == ["/shop/new", ""]
    assert [(application.folder / "a.css").read_text() for application in applications] == ["s.war", "r.war"]


@pytest.mark.parametrize("name", ["../evil.css", "/etc/evil.css", "a/../../evil", "a\\..\\b", "new\nline"])
def test_no_file_leaves_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArchiveError, match="not a regular file"):
        explode(archive(tmp_path / "a.war", {name: "x"}), tmp_path / "app")
    assert not list(tmp_path.rglob("evil*"))


def test_links_entities_and_other_files_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.war", "w") as opened:
        opened.writestr(link, "/etc/passwd")
    with pytest.raises(ArchiveError, match="not a regular file"):
        explode(tmp_path / "a.war", tmp_path / "app")
    bomb = '<!DOCTYPE a [<!ENTITY b "c">]><web-app>&b;</web-app>'
    with pytest.raises(ArchiveError, match="entities"):
        explode(archive(tmp_path / "b.war", {"WEB-INF/web.xml": bomb}), tmp_path / "b")
    (tmp_path / "c.war").write_text("no archive")
    with pytest.raises(ArchiveError, match="not a zip file"):
        explode(tmp_path / "c.war", tmp_path / "c")


def test_names_cannot_leave_their_place_in_the_configuration(tmp_path: Path) -> None:
    hostile = {'a" Require all granted #.css': "x", "b$(id).css": "x", "c.d.css": "x"}
    [application] = explode(archive(tmp_path / "a.war", hostile), tmp_path / "app")
    text = stack.apache(tmp_path, [application], listen="8080", kind="jk", backend=8009)
    assert "Require all granted #" not in text and 'JkUnMount /a/c.d.css app' in text
    text = stack.apache(tmp_path, [application], listen="8080", kind="http", backend=8009)
    assert r"/a/c\x2ed\x2ecss$" in text and r"/a/b\x24\x28id\x29\x2ecss$" in text


@pytest.mark.parametrize("context", ["/..", "/a/..", "/.git", "/a b", "/a\nListen 1", '/a"'])
def test_a_context_stays_in_its_folder(tmp_path: Path, context: str) -> None:
    war = archive(tmp_path / "a.war", {"a.css": "x"})
    with pytest.raises(ArchiveError, match="a context is a path such as /shop"):
        explode(war, tmp_path / "out/app", context)
    assert not (tmp_path / "out").exists()


def test_what_is_never_meant_is_not_static(tmp_path: Path) -> None:
    names = ["css/a.css", "css/a.css~", "css/.htaccess", ".git/config", ".well-known/security.txt", "css/dump.sql",
             "css/script.php"]
    [application] = explode(archive(tmp_path / "a.war", dict.fromkeys(names, "x")), tmp_path / "app")
    assert list(application.static) == ["/.well-known", "/css"]
    assert static_files(application) == ["/.well-known/security.txt", "/css/a.css", "/css/dump.sql", "/css/script.php"]
    assert doubtful(application) == ["/a/css/dump.sql", "/a/css/script.php"]


def test_sources_are_files_that_visitors_may_ask_for(tmp_path: Path) -> None:
    names = ["a.jsp", "deep/B.JSPX", "c.class", "applet.class/a.css", "WEB-INF/b.jsp", "WEB-INF/lib/x.jar/a.txt", ".git/c.jsp"]
    [application] = explode(archive(tmp_path / "a.war", dict.fromkeys(names, "x")), tmp_path / "app")
    assert sources(application) == ["/a.jsp", "/c.class", "/deep/B.JSPX"]


def test_types_are_those_of_the_application(tmp_path: Path) -> None:
    mappings = "".join(f"<mime-mapping><extension>{ending}</extension><mime-type>{kind}</mime-type></mime-mapping>"
                       for ending, kind in (("note", "text/x-note;charset=utf-8"), ("evil", 'text/x" .css\nListen 1')))
    names = ["a.js.map", "a.note", "b.note.js", "README", "c.map"]
    war = archive(tmp_path / "a.war", dict.fromkeys(names, "x") | {"WEB-INF/web.xml": WEB.format(mappings=mappings)})
    [application] = explode(war, tmp_path / "app")
    assert application.types == {"note": "text/x-note;charset=utf-8"}
    assert application.untyped == {"map"}
    assert 'AddType "text/x-note;charset=utf-8" .note' in stack.apache(
        tmp_path, [application], listen="8080", kind="jk", backend=8009)


def generate(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([EXPERIMENT / "generate", *map(str, words)], capture_output=True, text=True, timeout=400)


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """Creates a directory that every user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


with_servers = pytest.mark.skipif(not Path("/usr/share/tomcat10/bin").is_dir() or not Path(
    "/usr/lib/apache2/modules/mod_jk.so").exists(), reason="Tomcat or mod_jk is not installed")


@with_servers
def test_a_configuration_is_written_and_verified(open_folder: Path) -> None:
    out, tls = open_folder / "verified site", stack.certificate(open_folder, "shop.example.org")
    completed = generate(ROOT / "build/reverse-proxy/app.war", "--output", out, "--listen", "127.0.0.1:8443", "--hsts",
                    "--certificate", tls.certificate, "--key", tls.key)
    assert completed.returncode == 0, completed.stderr
    assert "static files that come from Apache, byte for byte as from the application: 4\n" in completed.stdout
    assert "protected paths that are rejected: " in completed.stdout
    assert "compressed texts: 4; versioned files that expire in a year: 1;" in completed.stdout
    assert "TLS 1.1 is rejected" in completed.stdout and "403 without the secret" in completed.stdout
    assert not completed.stderr
    httpd = (out / "apache/httpd.conf").read_text()
    for line in ("JkMount /app/* app", "JkUnMount /app/files app", "JkUnMount /app/files/* app", "Listen 127.0.0.1:8443",
                 'Header always set Strict-Transport-Security "max-age=31536000"', f'Alias /app "{out}/app/app"'):
        assert line in httpd.splitlines()
    secret = (out / "apache/workers.properties").read_text().split("secret=")[1].split()[0]
    assert secret in (out / "tomcat/conf/server.xml").read_text() and secret not in httpd
    assert all((out / name).stat().st_mode & 0o007 == 0 for name in ("apache/workers.properties", "tomcat/conf/server.xml"))


@with_servers
def test_all_applications_of_an_ear_are_verified(tmp_path: Path, open_folder: Path) -> None:
    descriptor = """<application xmlns="https://jakarta.ee/xml/ns/jakartaee" version="10">
        <module><web><web-uri>shop.war</web-uri><context-root>/shop/new</context-root></web></module>
        <module><web><web-uri>web/root.war</web-uri><context-root>/</context-root></web></module></application>"""
    root = archive(tmp_path / "root.war", FILES | {"WEB-INF/web.xml": WEB.format(mappings=mapping("/api")),
                                                   "js/a.0123abcd.js": 50 * "var a;", "css/empty.css": ""}).read_bytes()
    shop = (ROOT / "build/reverse-proxy/app.war").read_bytes()
    ear = archive(tmp_path / "all.ear", {"shop.war": shop, "web/root.war": root, "META-INF/application.xml": descriptor})
    completed = generate(ear, "--output", open_folder / "ear")
    assert completed.returncode == 0, completed.stderr
    assert "static files that come from Apache, byte for byte as from the application: 11\n" in completed.stdout
    assert "versioned files that expire in a year: 2;" in completed.stdout


@with_servers
def test_an_application_that_does_not_start_by_itself_is_told(tmp_path: Path, open_folder: Path) -> None:
    listener = "<listener><listener-class>example.Missing</listener-class></listener>"
    war = archive(tmp_path / "shop.war", FILES | {"WEB-INF/web.xml": WEB.format(mappings=listener)})
    completed = generate(war, "--output", open_folder / "missing")
    assert completed.returncode == 1
    assert "/shop does not start in a private Tomcat" in completed.stderr and "example.Missing" in completed.stderr
    # A configuration that could not be verified is removed.
    assert f"Nothing is left in {open_folder / 'missing'}" in completed.stderr and not (open_folder / "missing").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide the files from the servers' users")
@with_servers
def test_a_folder_that_the_servers_may_not_enter_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    completed = generate(ROOT / "build/reverse-proxy/app.war", "--output", tmp_path / "out")
    assert completed.returncode == 1 and "www-data may not read" in completed.stderr and "chmod o+x" in completed.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide the files from the servers' users")
@with_servers
def test_a_tomcat_that_is_apaches_user_is_refused(open_folder: Path) -> None:
    completed = generate(ROOT / "build/reverse-proxy/app.war", "--output", open_folder / "same user", "--tomcat-user", "www-data")
    assert completed.returncode == 1 and "www-data, the user of Apache, may read" in completed.stderr, completed.stderr


DAMAGED = """
import stack, verify
from configuration import Configuration
from pathlib import Path
protection = stack.APACHE[stack.APACHE.index('<LocationMatch "(?i)'):]
stack.APACHE = stack.APACHE.replace(protection, "").replace("ServerTokens Prod", "ServerTokens Full")
whole = stack.apache
stack.apache = lambda *words, **more: (whole(*words, **more).replace("JkUnMount /files", "#")
                                       .replace("SSLProtocol -all +TLSv1.2", "SSLProtocol -all"))
stack.tomcat_server = (lambda whole: lambda **more: whole(**more).replace('secretRequired="true"', 'secretRequired="false"')
                       .replace("secret=", "title="))(stack.tomcat_server)
folder = Path({folder!r})
written = Configuration(folder, [stack.Application("", folder / "app/ROOT", ["/files", "/pages"])], name="localhost", listen="443",
                        ajp=8009, secret="s", tls=stack.Tls(Path("c"), Path("k")), public=stack.Public())
with verify.Daemons(tells=False) as daemons:
    proxy = verify.Proxy(daemons, written)
    for part in proxy.static, proxy.sources, proxy.headers, proxy.tls_versions, proxy.connector:
        try:
            print(*part())
        except verify.VerificationError as error:
            print(part.__name__, "fails:", error)
"""


@with_servers
def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    """Runs in a separate process, because the process that ends the servers ends its process group, too."""
    shutil.copytree(ROOT / "build/reverse-proxy/app", tmp_path / "app/ROOT")
    (tmp_path / "app/ROOT/pages").mkdir()
    (tmp_path / "app/ROOT/pages/sum.jsp").write_text("<%= 6 * 7 %>")
    program = DAMAGED.format(folder=str(tmp_path))
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=400,
                          env={"PYTHONPATH": f"{EXPERIMENT}:{ROOT / 'kits/python/src'}", "PATH": os.environ["PATH"]})
    found = completed.stdout
    assert "static fails: /files/library-1.4.2.js: the response comes from the application" in found, found + completed.stderr
    assert "sources fails: /pages/sum.jsp: the proxy shows the source, but the application does not" in found
    assert "headers fails: an error page or the Server header discloses" in found
    assert "tls_versions fails: the proxy rejects TLSv1_2" in found
    assert "connector fails: AJP responds" in found


WELCOME = {
    "WEB-INF/web.xml": WEB.format(mappings="<error-page><error-code>404</error-code>"
                                           "<location>/gone.html</location></error-page>"
                                           "<welcome-file-list><welcome-file>start.html</welcome-file></welcome-file-list>"
                                  ).replace("benchlab.reverseproxy.Greeting", "org.apache.catalina.servlets.DefaultServlet"),
    "gone.html": "<p>It is gone.", "help/start.html": "<p>Help", "help/deep/a.css": "a{}", "help/a.js.map": "{}",
    "help/.git/config": "secret", "help/a.css~": "old", "help/dump.sql": "dump",
    # If a directory contains a page, its files are listed one by one.
    "static/app.3f2a9c1d4e5b.js": 40 * "var a;", "static/plain.js": "var b;", "static/page.jsp": "<%= 6 * 7 %>",
    "static/with space-1.2.js": "var c;",
    # The verification does not request halt.jsp, which would stop the server; applet.class is a directory.
    "static/halt.jsp": "<% Runtime.getRuntime().halt(1); %>", "static/applet.class/a.css": "a{}",
}


class Running:
    """The servers that `generate` configured, started with its commands."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "site"
        self.port, self.plain = free_port(), free_port()
        words = ["--tomcat-user", "nobody"] if os.geteuid() == 0 else []
        self.completed = generate(archive(place / "one.war", WELCOME), "--output", self.folder, "--ajp", free_port(), "--listen",
                             f"127.0.0.1:{self.port}", "--redirect", f"127.0.0.1:{self.plain}", *words)
        assert self.completed.returncode == 0, self.completed.stderr
        tomcat, apache = (shlex.split(line) for line in self.completed.stdout.split("Start it with:\n")[1].splitlines())
        self.log = place / "tomcat.log"
        with self.log.open("wb") as log:
            self.tomcat = subprocess.Popen(tomcat, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.apache = [program(apache[0]), *apache[1:]]
        try:
            subprocess.run(self.apache, check=True)
            self.wait(lambda: "Server startup in" in self.log.read_text())
        except BaseException:
            self.end()
            raise

    def wait(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not is_so():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def ask(self, path: str, *, is_plain: bool = False) -> tuple[int, http.client.HTTPMessage, bytes]:
        trusted = ssl.create_default_context(cafile=str(self.folder / "apache/certificate.pem"))
        connection = (http.client.HTTPConnection("127.0.0.1", self.plain, timeout=60) if is_plain else
                      http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=trusted))
        connection.request("GET", path)
        answer = connection.getresponse()
        try:
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def end(self) -> None:
        self.tomcat.send_signal(signal.SIGTERM)
        self.tomcat.wait(60)
        subprocess.run([*self.apache, "-k", "stop"])
        self.wait(lambda: not (self.folder / "apache/httpd.pid").exists())


@pytest.fixture(scope="module")
def running(open_folder: Path) -> Iterator[Running]:
    started = Running(open_folder)
    yield started
    started.end()


@with_servers
def test_it_is_started_as_it_says(running: Running) -> None:
    assert running.ask("/one/static/page.jsp")[::2] == (200, b"42")
    if os.geteuid() == 0:
        server = (running.folder / "tomcat/conf/server.xml").stat()
        inside = (running.folder / "app/one/WEB-INF").stat()
        assert (server.st_mode & 0o777, inside.st_mode & 0o777) == (0o640, 0o750)
        assert server.st_uid == 0 and server.st_gid == inside.st_gid != 0
        assert "runuser -u nobody -- env CATALINA_BASE=" in running.completed.stdout


@with_servers
def test_versioned_files_that_are_listed_singly_expire_late(running: Running) -> None:
    rules = {path: running.ask(f"/one/static/{path}")[1]["Cache-Control"] for path in
             ("app.3f2a9c1d4e5b.js", "plain.js", "page.jsp", "with%20space-1.2.js")}
    assert rules == {"app.3f2a9c1d4e5b.js": "public, max-age=31536000, immutable", "plain.js": "no-cache",
                     # These two come from the application, whose own rules are not changed.
                     "page.jsp": None, "with%20space-1.2.js": None}


@with_servers
def test_folders_are_answered_as_by_the_application(running: Running) -> None:
    status, headers, body = running.ask("/one/help")
    assert (status, headers["Location"], headers["Content-Type"]) == (302, "/one/help/", None)
    assert running.ask("/one/help/")[::2] == (200, b"<p>Help")
    for path in "/one/help/deep/", "/one/help/none.css":
        assert running.ask(path)[::2] == (404, b"<p>It is gone."), path
    assert running.ask("/one/help/deep/a.css;jsessionid=1")[::2] == (200, b"a{}")
    assert "directory paths that get the same response from the proxy as from the application" in running.completed.stdout


@with_servers
def test_what_is_never_meant_is_refused(running: Running) -> None:
    for path in "/one/help/.git/config", "/one/help/%2egit/config", "/one/help/a.css~", "/one/help/a.css~;x", "/one/.env":
        assert running.ask(path)[0] == 403, path
    assert running.ask("/one/help/dump.sql")[::2] == (200, b"dump")
    assert "Are these for visitors? The application serves them, so Apache does: /one/help/dump.sql" in running.completed.stdout


@with_servers
def test_what_an_administrator_looks_for(running: Running) -> None:
    status, headers, _ = running.ask("/one/help/a.js.map")
    assert status == 200 and headers["Content-Type"] is None
    # A year of HSTS with a certificate that no browser trusts would lock all visitors out.
    assert headers["Strict-Transport-Security"] is None
    status, headers, _ = running.ask("/one/any?x=y", is_plain=True)
    assert (status, headers["Location"]) == (301, f"https://localhost:{running.port}/one/any?x=y")
    assert '"GET /one/help/a.js.map HTTP/1.1" 200 2' in (running.folder / "apache/access.log").read_text()
    lines = (running.folder / "apache/httpd.conf").read_text().splitlines()
    assert "Timeout 60" in lines and any(line.startswith("RequestReadTimeout handshake=") for line in lines)


def test_who_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(verify.VerificationError, match=r"the proxy was asked for /shop/x, and did not respond within 0.2 s"):
            verify.Site("the proxy", port).ask("/shop/x")
        message = f"the AJP server on port {port} was sent a request without the secret, and did not"
        with pytest.raises(verify.VerificationError, match=message):
            verify.ajp_status(port)


@pytest.mark.parametrize(("option", "value", "message"), [
    ("--listen", "443\nEvil on", "is not a port from 1 to 65535"),
    ("--listen", "0", "is not a port"),
    ("--listen", "example.org:443", "is not an IP address"),
    ("--listen", "[::1:443", "is not an IP address"),
    ("--redirect", "80 443", "is not a port"),
    ("--redirect", "443", "must have different ports"),
    ("--ajp", "65536", "is not a port"),
    ("--name", "shop\nEvil on", "is not a valid host name"),
    ("--name", "a b", "is not a valid host name"),
    ("--name", '"', "is not a valid host name"),
    ("--output", 'new"\nEvil on', "with a special meaning in a configuration"),
    ("--output", "new*", "with a special meaning in a configuration"),
    ("--certificate", "a\nb", "with a special meaning in a configuration"),
    ("--tomcat-user", "nobody:such", "there is no user"),
    ("--context", "/a\nEvil on", "a context is a path such as /shop"),
    ("--hsts", None, "--hsts needs --certificate"),
])
def test_no_option_breaks_the_configuration(tmp_path: Path, option: str, value: str | None, message: str) -> None:
    war = archive(tmp_path / "a.war", {"a.css": "x"})
    output = [] if option == "--output" else ["--output", tmp_path / "new"]
    words = [option] if value is None else [option, tmp_path / value if option == "--output" else value]
    completed = generate(war, *output, *words, "--no-verify")
    assert completed.returncode in (1, 2) and message in completed.stderr and "Traceback" not in completed.stderr
    assert list(tmp_path.iterdir()) == [war]


def test_addresses_of_both_families_are_listened_on() -> None:
    from options import listen
    assert [listen(text) for text in ("443", "0443", "127.0.0.1:80", "[0::1]:80")] == [
        "443", "443", "127.0.0.1:80", "[::1]:80"]


def test_a_certificate_is_for_long_names_too(tmp_path: Path) -> None:
    name = "a." * 40 + "example.org"
    certificate = stack.certificate(tmp_path, name)
    output = subprocess.run(["openssl", "x509", "-in", certificate.certificate, "-noout", "-checkhost", name], capture_output=True,
                           text=True, check=True).stdout
    assert "does match" in output


def test_a_certificate_fits_its_key(tmp_path: Path) -> None:
    for name in "a", "b":
        (tmp_path / name).mkdir()
    first, second = (stack.certificate(tmp_path / name, "192.0.2.1") for name in ("a", "b"))
    completed = generate("a.war", "--output", tmp_path / "x", "--certificate", first.certificate, "--key", second.key)
    assert completed.returncode == 2 and "are not a certificate and its key in PEM" in completed.stderr
    completed = generate("a.war", "--output", tmp_path / "x", "--certificate", tmp_path / "none", "--key", first.key)
    assert completed.returncode == 2 and "No such file" in completed.stderr


def test_wrong_words_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    assert "choose a new directory" in generate("a.war", "--output", tmp_path / "full").stderr
    assert "neither a .war nor a .ear" in generate(__file__, "--output", tmp_path / "new").stderr
    assert "must be used together" in generate("a.war", "--output", tmp_path / "x", "--key", "k").stderr
