# SPDX-License-Identifier: Apache-2.0
"""`experiments/front/generate`: which paths Apache may serve itself, archives that must be refused, and one
application whose configuration it writes and verifies."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from experiments import ROOT

FRONT = ROOT / "experiments/front"
# Last: the tests have a module `subject` of their own.
sys.path += [str(FRONT), str(ROOT / "kits/python/src")]

import stack  # noqa: E402
from archives import ArchiveError, explode  # noqa: E402

WEB = """<?xml version="1.0"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
  <servlet><servlet-name>s</servlet-name><servlet-class>benchlab.front.Greeting</servlet-class></servlet>
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
    # The default servlet is what serves files.
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
    # The single files of a folder are known as such.
    assert all((path in application.files) == (application.folder / path[1:]).is_file() for path in static)


def test_an_ear_has_its_applications_where_it_says(tmp_path: Path) -> None:
    shop, root = (archive(tmp_path / name, {"a.css": name}).read_bytes() for name in ("s.war", "r.war"))
    descriptor = """<application xmlns="https://jakarta.ee/xml/ns/jakartaee" version="10">
        <module><web><web-uri>s.war</web-uri><context-root>/shop/new</context-root></web></module>
        <module><web><web-uri>r.war</web-uri><context-root>/</context-root></web></module></application>"""
    ear = archive(tmp_path / "all.ear", {"s.war": shop, "r.war": root, "META-INF/application.xml": descriptor})
    applications = explode(ear, tmp_path / "app")
    assert [one.context for one in applications] == ["/shop/new", ""]
    assert [(one.folder / "a.css").read_text() for one in applications] == ["s.war", "r.war"]


@pytest.mark.parametrize("name", ["../evil.css", "/etc/evil.css", "a/../../evil", "a\\..\\b", "new\nline"])
def test_no_file_leaves_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArchiveError, match="no plain file"):
        explode(archive(tmp_path / "a.war", {name: "x"}), tmp_path / "app")
    assert not list(tmp_path.rglob("evil*"))


def test_links_entities_and_other_files_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.war", "w") as opened:
        opened.writestr(link, "/etc/passwd")
    with pytest.raises(ArchiveError, match="no plain file"):
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
    return subprocess.run([FRONT / "generate", *map(str, words)], capture_output=True, text=True, timeout=240)


with_servers = pytest.mark.skipif(not Path("/usr/share/tomcat10/bin").is_dir() or not Path(
    "/usr/lib/apache2/modules/mod_jk.so").exists(), reason="Tomcat or mod_jk is not installed")


@with_servers
def test_single_files_expire_by_their_names(tmp_path: Path) -> None:
    names = ["a/app.3f2a9c1d4e5b.js", "a/plain.js", "a/page.jsp", "a/app.js.map"]
    done = generate(archive(tmp_path / "a.war", dict.fromkeys(names, "x")), "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "1 versioned files expire in a year, 2 others" in done.stdout


@with_servers
def test_a_configuration_is_written_and_verified(tmp_path: Path) -> None:
    done = generate(ROOT / "build/front/app.war", "--output", tmp_path / "out", "--listen", "127.0.0.1:8443")
    assert done.returncode == 0, done.stderr
    assert "4 static files come from Apache, byte for byte" in done.stdout
    assert "protected paths are refused" in done.stdout and "4 texts are compressed; 1 versioned" in done.stdout
    assert "TLS 1.1 is refused" in done.stdout and "403 without the secret" in done.stdout
    assert not done.stderr
    httpd = (tmp_path / "out/apache/httpd.conf").read_text()
    for line in "JkMount /app/* app", "JkUnMount /app/files app", "JkUnMount /app/files/* app", "Listen 127.0.0.1:8443":
        assert line in httpd.splitlines()
    secret = (tmp_path / "out/apache/workers.properties").read_text().split("secret=")[1].split()[0]
    assert secret in (tmp_path / "out/tomcat/server.xml").read_text() and secret not in httpd
    assert all((tmp_path / "out" / name).stat().st_mode & 0o077 == 0 for name in
               ("apache/workers.properties", "tomcat/server.xml", "apache/key.pem"))


@with_servers
def test_all_applications_of_an_ear_are_verified(tmp_path: Path) -> None:
    descriptor = """<application xmlns="https://jakarta.ee/xml/ns/jakartaee" version="10">
        <module><web><web-uri>shop.war</web-uri><context-root>/shop/new</context-root></web></module>
        <module><web><web-uri>web/root.war</web-uri><context-root>/</context-root></web></module></application>"""
    root = archive(tmp_path / "root.war", FILES | {"WEB-INF/web.xml": WEB.format(mappings=mapping("/api")),
                                                   "js/a.0123abcd.js": 50 * "var a;", "css/empty.css": ""}).read_bytes()
    shop = (ROOT / "build/front/app.war").read_bytes()
    ear = archive(tmp_path / "all.ear", {"shop.war": shop, "web/root.war": root, "META-INF/application.xml": descriptor})
    done = generate(ear, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "11 static files come from Apache, byte for byte" in done.stdout and "2 versioned" in done.stdout


@with_servers
def test_an_application_that_does_not_start_by_itself_is_told(tmp_path: Path) -> None:
    listener = "<listener><listener-class>example.Missing</listener-class></listener>"
    war = archive(tmp_path / "shop.war", FILES | {"WEB-INF/web.xml": WEB.format(mappings=listener)})
    done = generate(war, "--output", tmp_path / "out")
    assert done.returncode == 1
    assert "/shop does not start in a Tomcat of its own" in done.stderr and "example.Missing" in done.stderr


DAMAGED = """
import stack, verify
from pathlib import Path
protection = stack.APACHE[stack.APACHE.index('<LocationMatch "(?i)'):]
stack.APACHE = stack.APACHE.replace(protection, "").replace("ServerTokens Prod", "ServerTokens Full")
whole = stack.apache
stack.apache = lambda *words, **more: (whole(*words, **more).replace("JkUnMount", "#")
                                       .replace("SSLProtocol -all +TLSv1.2", "SSLProtocol -all"))
stack.tomcat_server = (lambda whole: lambda **more: whole(**more).replace('secretRequired="true"', 'secretRequired="false"')
                       .replace("secret=", "title="))(stack.tomcat_server)
with verify.Daemons(tells=False) as daemons:
    front = verify.Front(daemons, [stack.Application("", Path({folder!r}), ["/files"])])
    for part in front.static, front.headers, front.tls_versions, front.connector:
        try:
            print(*part())
        except verify.VerificationError as error:
            print(part.__name__, "fails:", error)
"""


@with_servers
def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    """In a process of its own: that of the servers ends its group."""
    program = DAMAGED.format(folder=str(ROOT / "build/front/app"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240,
                          env={"PYTHONPATH": f"{FRONT}:{ROOT / 'kits/python/src'}", "PATH": os.environ["PATH"]})
    found = done.stdout
    assert "static fails: /files/library-1.4.2.js: it is the application that answers it" in found, found + done.stderr
    assert "headers fails: an error page or the header Server says which version" in found
    assert "tls_versions fails: TLSv1_2 is not spoken" in found
    assert "connector fails: AJP answers" in found


def test_wrong_words_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    assert "name a new folder" in generate("a.war", "--output", tmp_path / "full").stderr
    assert "neither a .war nor a .ear" in generate(__file__, "--output", tmp_path / "new").stderr
    assert "belong together" in generate("a.war", "--output", tmp_path / "x", "--key", "k").stderr
