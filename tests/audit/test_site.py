# SPDX-License-Identifier: Apache-2.0
"""Tests `benchlab audit site` on real servers in known states: the expected result of each rule."""

import contextlib
import functools
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import servers
from servers import free_port

ROOT = Path(__file__).resolve().parents[2]
BENCHLAB = Path(os.environ.get("BENCHLAB_PROGRAM", ROOT / "target/debug/benchlab"))
WITHIN_S = 120
PATH = os.environ["PATH"] + ":/usr/sbin"
MODULES = Path("/usr/lib/apache2/modules")

HTML = "<!doctype html><link rel=stylesheet href=/s.css><script src=/j.js></script><img src=/i.svg>"
FILES = {"index.html": HTML, "s.css": "body { color: black }\n" * 300, "j.js": "let x = 1;\n" * 300, "i.svg": "<svg/>"}


@dataclass
class Expected:
    """Expected states of a server's rules; if a rule applies to multiple files, the worst state."""

    bad: set[str] = field(default_factory=set)
    advice: set[str] = field(default_factory=set)
    good: set[str] = field(default_factory=set)


def wait_for(port: int, process: subprocess.Popen, log: Path) -> None:
    limit = time.monotonic() + WITHIN_S
    while True:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None and time.monotonic() < limit, log.read_text() if log.exists() else "no log"
        time.sleep(0.02)


def make_root(folder: Path) -> Path:
    root = folder / "root"
    root.mkdir()
    for name, content in FILES.items():
        (root / name).write_text(content)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n\tbare = false\n")
    return root


def certify(folder: Path, days: int) -> None:
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days), "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key", "-out",
                    folder / "certificate"], check=True, capture_output=True)


def nginx(folder: Path, port: int, server: str, http: str = "") -> list[str]:
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;\n" if os.geteuid() == 0 else ""
    types = "types { text/html html; text/css css; application/javascript js; image/svg+xml svg; }"
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log {folder}/log;\nevents {{ }}\nhttp {{\n"
        f"access_log off;\n{types}\n{temporary}{http}\nserver {{\nroot {folder}/root;\n{server}\n}}\n}}\n")
    return [shutil.which("nginx", path=PATH), "-e", f"{folder}/log", "-p", str(folder), "-c", f"{folder}/nginx.conf"]


def apache(folder: Path, port: int, lines: str, modules: str = "") -> list[str]:
    names = ["mpm_event", "authz_core", "mime", "dir", *modules.split()]
    load = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names)
    (folder / "types").write_text("text/html html\ntext/css css\ntext/javascript js\nimage/svg+xml svg\n")
    (folder / "apache.conf").write_text(
        f"{load}\nServerName localhost\nServerRoot {folder}\nPidFile {folder}/pid\nListen 127.0.0.1:{port}\nErrorLog {folder}/log\n"
        f"TypesConfig {folder}/types\nDocumentRoot {folder}/root\nDirectoryIndex index.html\n"
        f"<Directory {folder}/root>\nRequire all granted\n</Directory>\n{lines}\n")
    return [shutil.which("apache2", path=PATH), "-f", f"{folder}/apache.conf", "-D", "FOREGROUND"]


HEADERS = {"Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff",
           "Referrer-Policy": "no-referrer", "Permissions-Policy": "camera=()", "Cross-Origin-Opener-Policy": "same-origin"}
NGINX_HEADERS = "\n".join(f'add_header {name} "{value}" always;' for name, value in HEADERS.items())
APACHE_HEADERS = "\n".join(f'Header always set {name} "{value}"' for name, value in HEADERS.items())
NGINX_TUNED = f"""server_tokens off; gzip on; gzip_types text/css application/javascript; gzip_vary on; gzip_min_length 100; etag on;
charset utf-8; charset_types text/css application/javascript image/svg+xml; {NGINX_HEADERS}
location ~ /\\.git {{ return 404; }}"""
TLS = "ssl_certificate {folder}/certificate; ssl_certificate_key {folder}/key;"

NODE = """
const http = require('http'), fs = require('fs'), root = process.argv[2];
http.createServer((request, response) => {
  if (request.method !== 'GET') { response.writeHead(405); response.end(); return; }
  const path = request.url === '/' ? '/index.html' : request.url;
  fs.readFile(root + path, (error, content) => {
    const type = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }[path.split('.').pop()];
    if (error || path.startsWith('/.')) { response.writeHead(404); response.end('none'); return; }
    response.writeHead(200, { 'Content-Type': type, 'X-Powered-By': 'Node', 'Set-Cookie': 'sid=1' });
    response.end(content);
  });
}).listen(Number(process.argv[3]), '127.0.0.1');
"""
GO = """package main

import (
	"net/http"
	"os"
)

func main() {
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[2], http.FileServer(http.Dir(os.Args[1]))))
}
"""


def start_node(folder: Path, port: int) -> list[str]:
    (folder / "server.js").write_text(NODE)
    return ["node", str(folder / "server.js"), str(folder / "root"), str(port)]


def start_go(folder: Path, port: int) -> list[str]:
    (folder / "main.go").write_text(GO)
    subprocess.run(["go", "build", "-o", folder / "server", folder / "main.go"], check=True, capture_output=True, cwd=folder)
    return [str(folder / "server"), str(folder / "root"), str(port)]


UNSAFE = {"server-csp", "server-nosniff", "server-framed", "server-referrer", "server-permissions", "server-isolated"}

# The expected states, checked by hand with curl.
SERVERS: dict[str, tuple[str, Callable[[Path, int], list[str]], Expected]] = {
    "apache-default": ("http", lambda f, p: apache(f, p, ""), Expected(
        bad={"resource-compression", "server-exposed"},
        advice={"server-version", "resource-cache"} | UNSAFE,
        good={"resource-revalidation", "resource-there", "server-head", "server-made-with", "server-complete"})),
    "apache-tuned": ("http", lambda f, p: apache(
        f, p, f"ServerTokens Prod\nAddOutputFilterByType DEFLATE text/html text/css text/javascript application/javascript\n"
              f"{APACHE_HEADERS}\nAddDefaultCharset utf-8\nExpiresActive On\nExpiresDefault \"access plus 1 day\"\n"
              f"RedirectMatch 404 /\\.git\nDeflateAlterETag NoChange", "deflate filter headers expires alias setenvif"), Expected(
        good={"resource-compression", "resource-revalidation", "server-exposed", "server-version", "resource-cache", "resource-vary"} | UNSAFE)),
    "apache-powered": ("http", lambda f, p: apache(
        f, p, "Header set X-Powered-By PHP/8.2.1\nFileETag None\nHeader unset Last-Modified", "headers"), Expected(
        bad={"server-made-with", "resource-compression"}, advice={"resource-revalidation"})),
    "nginx-default": ("http", lambda f, p: nginx(f, p, f"listen 127.0.0.1:{p};"), Expected(
        bad={"resource-compression", "server-exposed"},
        advice={"server-version", "resource-cache"} | UNSAFE,
        good={"resource-revalidation", "server-head"})),
    "nginx-tuned": ("http", lambda f, p: nginx(f, p, f"listen 127.0.0.1:{p}; expires 1d; {NGINX_TUNED}"), Expected(
        good={"resource-compression", "resource-vary", "resource-cache", "resource-revalidation", "resource-charset",
              "server-exposed", "server-version"} | UNSAFE)),
    "nginx-loop": ("http", lambda f, p: nginx(f, p, f"listen 127.0.0.1:{p}; return 302 /;"), Expected(
        bad={"server-redirects"})),
    "nginx-elsewhere": ("http", lambda f, p: nginx(f, p, f"listen 127.0.0.1:{p}; return 301 https://www.a.invalid/;"), Expected(
        advice={"server-elsewhere"}, good={"server-https", "server-redirects", "server-exposed"})),
    "nginx-tls": ("https", lambda f, p: nginx(
        f, p, f"listen 127.0.0.1:{p} ssl http2; ssl_protocols TLSv1.2 TLSv1.3; {TLS.format(folder=f)} add_header Strict-Transport-Security max-age=31536000;"), Expected(
        bad={"server-certificate"}, advice={"server-certificate-left"},
        good={"server-tls13", "server-http2", "server-hsts"})),
    "nginx-tls12": ("https", lambda f, p: nginx(
        f, p, f"listen 127.0.0.1:{p} ssl; ssl_protocols TLSv1.2; {TLS.format(folder=f)}"), Expected(
        bad={"server-certificate", "server-tls13", "server-certificate-left"}, advice={"server-http2", "server-hsts"})),
    "node": ("http", start_node, Expected(
        bad={"server-made-with", "server-head", "resource-compression", "resource-cookies", "cookie-secure", "cookie-http-only"},
        advice={"resource-revalidation", "resource-charset", "cookie-same-site", "cookie-static"} | UNSAFE,
        good={"server-exposed", "server-version", "cookie-wide", "cookie-size"})),
    "go": ("http", start_go, Expected(
        bad={"resource-compression", "server-exposed"}, advice=UNSAFE,
        good={"server-version", "server-head", "resource-revalidation"})),
}
DAYS = {"nginx-tls": 15, "nginx-tls12": 2}


def run_audit(url: str, *options: str | Path, roots: Path | None = None) -> str:
    """Returns the output of `audit site`; `roots` are the certificate authorities that it trusts."""
    command = [BENCHLAB, "audit", "site", url, "--format", "json", "--ask-rate", "1000", "--ajp-port", str(free_port()), *options]
    trusted = {} if roots is None else {"SSL_CERT_FILE": str(roots)}
    completed = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, env=os.environ | trusted)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


@functools.cache
def audit(url: str) -> dict:
    return json.loads(run_audit(url, "--no-run"))


def cookie_database(url: str, folder: Path) -> sqlite3.Connection:
    """Runs an audit and opens its run file."""
    run_audit(url, "--runs", folder)
    [file] = folder.glob("*.lab")
    return sqlite3.connect(file)


def states(report: dict) -> dict[str, str]:
    """Returns the worst state of each rule."""
    ranks = ["not-applicable", "good", "unknown", "advice", "bad"]
    worst: dict[str, str] = {}
    for row in report["rows"]:
        rule, state = row["case"], row["verdict"]
        worst[rule] = max(state, worst.get(rule, "not-applicable"), key=ranks.index)
    return worst


@contextlib.contextmanager
def running(words: list[str], port: int, log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output)
    try:
        wait_for(port, process, log)
        yield
    finally:
        process.terminate()
        process.wait(timeout=WITHIN_S)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Expected]]:
    scheme, command, expected = SERVERS[request.param]
    make_root(tmp_path)
    if request.param in DAYS:
        certify(tmp_path, DAYS[request.param])
    port = free_port()
    with running(command(tmp_path, port), port, tmp_path / "output"):
        yield f"{scheme}://127.0.0.1:{port}/", expected


def test_a_server_is_found_to_be_what_it_is(server: tuple[str, Expected]) -> None:
    url, expected = server
    found = states(audit(url))
    for state in ("bad", "advice", "good"):
        rules = getattr(expected, state)
        assert {rule: found.get(rule) for rule in rules} == dict.fromkeys(rules, state)


def test_the_ada_server(tmp_path: Path) -> None:
    target = next(target for target in servers.targets() if target.name == "ada-server")
    server = servers.start(target, servers.make_files(tmp_path))
    try:
        host, port = server.address
        found = states(audit(f"http://{host}:{port}/api"))
    finally:
        server.close()
    good = {"server-version", "server-made-with", "server-exposed", "server-head", "server-complete", "server-ajp", "resource-there",
            "resource-type"}
    assert {rule: found.get(rule) for rule in good} == dict.fromkeys(good, "good")


def test_a_certificate_of_a_known_authority_is_good(tmp_path: Path) -> None:
    make_root(tmp_path)
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "90"]
    subprocess.run([*new, "-subj", "/CN=authority", "-addext", "keyUsage=critical,keyCertSign", "-keyout", tmp_path / "ca.key", "-out",
                    tmp_path / "ca"], check=True, capture_output=True)
    subprocess.run([*new, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-addext",
                    "basicConstraints=critical,CA:FALSE", "-CA", tmp_path / "ca", "-CAkey", tmp_path / "ca.key", "-keyout",
                    tmp_path / "key", "-out", tmp_path / "certificate"], check=True, capture_output=True)
    port = free_port()
    words = nginx(tmp_path, port, f"listen 127.0.0.1:{port} ssl; {TLS.format(folder=tmp_path)}")
    with running(words, port, tmp_path / "output"):
        found = states(json.loads(run_audit(f"https://127.0.0.1:{port}/", "--no-run", roots=tmp_path / "ca")))
    good = {"server-certificate", "server-certificate-left"}
    assert {rule: found.get(rule) for rule in good} == dict.fromkeys(good, "good")


def test_who_served_what_is_told(tmp_path: Path) -> None:
    """A page of an application behind nginx, which serves the page's files itself."""
    make_root(tmp_path)
    inner, port = free_port(), free_port()
    words = nginx(tmp_path, port, f"listen 127.0.0.1:{port}; location = / {{ proxy_pass http://127.0.0.1:{inner}; }}")
    with (running(start_node(tmp_path, inner), inner, tmp_path / "inner"), running(words, port, tmp_path / "output"),
          cookie_database(f"http://127.0.0.1:{port}/", tmp_path / "runs") as run):
        [text] = run.execute("SELECT value FROM meta WHERE key = 'audit'").fetchone()
    tables = {table["title"]: table["rows"] for table in json.loads(text)["tables"]}
    served = {row[0]: row[1] for row in tables["Resources"]}
    assert served == {"/": "an application behind nginx"} | dict.fromkeys(["/s.css", "/j.js", "/i.svg"], "nginx, from a file")
    versions = {row[3] for row in tables["Resources"]}
    assert versions == {"1.1"}


SITE_RULES = ROOT / "crates/lab-audit/rules/site"
VALUES = {"name": "localhost", "type": "text/css"}
# Modules that a fix enables with `a2enmod`, and modules that lines of fixes also need.
MODULES_OF_FIXES = "alias deflate expires filter headers setenvif socache_shmcb ssl http2 rewrite"


def filled(line: str) -> str:
    for name, value in VALUES.items():
        line = line.replace("{" + name + "}", value)
    return line


def lines_for(kind: str, fixes: list[dict]) -> list[str]:
    """Returns the lines of fixes that apply to a server's configuration."""
    lines = [filled(line) for fix in fixes if fix.get("of") == kind for line in fix["lines"]]
    return [line for line in lines if not line.startswith(("a2enmod", "#"))]


def rule_fixes() -> dict[str, list[list[dict]]]:
    """Returns the fixes of each rule about sites, by case."""
    rules = {path.stem: tomllib.loads(path.read_text()) for path in SITE_RULES.glob("*.toml")}
    return {name: [case.get("fix", rule.get("fix", [])) for case in rule["case"]] for name, rule in rules.items()}


@pytest.mark.parametrize("rule", sorted(rule_fixes()))
def test_the_lines_of_a_fix_are_what_servers_read(rule: str, tmp_path: Path) -> None:
    make_root(tmp_path)
    certify(tmp_path, 90)
    certified = {"/etc/letsencrypt/live/localhost/fullchain.pem": tmp_path / "certificate",
                 "/etc/letsencrypt/live/localhost/privkey.pem": tmp_path / "key"}
    tried = 0
    for fixes in rule_fixes()[rule]:
        texts = {kind: "\n".join(lines_for(kind, fixes)) for kind in ("nginx", "Apache")}
        for kind, text in texts.items():
            for path, file in certified.items():
                text = text.replace(path, str(file))
            if not text:
                continue
            if kind == "nginx":
                port = free_port()
                text = text.replace("443", str(free_port()))
                tls_lines = "" if "ssl_certificate" in text else TLS.format(folder=tmp_path)
                words = [*nginx(tmp_path, port, f"listen 127.0.0.1:{port};\n{tls_lines}\n{text}"), "-t"]
            else:
                words = [*apache(tmp_path, free_port(), text, MODULES_OF_FIXES)[:3], "-t"]
            completed = subprocess.run(words, capture_output=True, text=True, timeout=WITHIN_S)
            assert completed.returncode == 0, (kind, text, completed.stderr)
            tried += 1
    by_hand = {"resource-readable", "resource-complete", "resource-there", "server-ajp", "server-certificate-left", "server-complete", "server-elsewhere",
               "server-head", "server-integrity"}
    assert tried > 0 or rule in by_hand


def fix_lines(kind: str, rule: str) -> str:
    return "\n".join(line for fixes in rule_fixes()[rule] for line in lines_for(kind, fixes))


def test_lines_for_apache_remove_what_header_always_sets(tmp_path: Path) -> None:
    make_root(tmp_path)
    always = ('Header always set X-Powered-By PHP/8.2.1\nHeader set X-Powered-By PHP/8.2.1\nHeader always set Set-Cookie a=1\n'
              'Header set Set-Cookie b=1\n')
    rules = ["server-made-with", "resource-cookies"]
    for lines, state in (("", "bad"), ("\n".join(fix_lines("Apache", rule) for rule in rules), "good")):
        port = free_port()
        with running(apache(tmp_path, port, always + lines, "headers"), port, tmp_path / "output"):
            found = states(audit(f"http://127.0.0.1:{port}/"))
        assert {rule: found.get(rule) for rule in rules} == dict.fromkeys(rules, state)


def test_lines_for_apache_close_server_status(tmp_path: Path) -> None:
    make_root(tmp_path)
    shutil.rmtree(tmp_path / "root" / ".git")
    status = "<Location /server-status>\nSetHandler server-status\nRequire all granted\n</Location>\n"
    for lines, state in (("", "bad"), (fix_lines("Apache", "server-exposed"), "good")):
        port = free_port()
        with running(apache(tmp_path, port, status + lines, "status alias"), port, tmp_path / "output"):
            assert states(audit(f"http://127.0.0.1:{port}/"))["server-exposed"] == state


# Rules that both servers' fixes satisfy by themselves. The other rules need another file, name or
# application.
MENDED = UNSAFE | {"resource-compression", "resource-cache", "resource-charset", "server-exposed", "server-version"}


@pytest.mark.parametrize("kind", ["nginx", "Apache"])
def test_what_the_fixes_say_mends_what_was_found(kind: str, tmp_path: Path) -> None:
    make_root(tmp_path)
    start = {"nginx": lambda port, lines: nginx(tmp_path, port, f"listen 127.0.0.1:{port};\n{lines}"),
             "Apache": lambda port, lines: apache(tmp_path, port, lines, MODULES_OF_FIXES)}[kind]
    port = free_port()
    with (running(start(port, ""), port, tmp_path / "output"),
          cookie_database(f"http://127.0.0.1:{port}/", tmp_path / "before") as run):
        found = run.execute("SELECT rule, state, fixes FROM finding WHERE state IN ('bad', 'advice')").fetchall()
    assert {rule for rule, _, _ in found} >= MENDED
    lines = [line for rule, _, fixes in found if rule in MENDED for line in lines_for(kind, json.loads(fixes))]
    assert lines
    port = free_port()
    with running(start(port, "\n".join(dict.fromkeys(lines))), port, tmp_path / "again"):
        after = states(audit(f"http://127.0.0.1:{port}/"))
    # No fix makes a good state bad: compression changes the ETags that are sent in conditional requests.
    good = MENDED | {"resource-revalidation"}
    assert {rule: after.get(rule) for rule in good} == dict.fromkeys(good, "good")
