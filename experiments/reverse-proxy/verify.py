# SPDX-License-Identifier: Apache-2.0
"""Verifies a generated configuration with a private Tomcat and a private Apache: the proxy's responses equal the
application's, protected paths are rejected, and headers are correct."""

import http.client
import re
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email.message import Message
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import stack
from archives import is_inside, is_refused, sources, static_files
from configuration import Configuration
from lab_kit.daemons import Daemons, free_port, is_open, program

NOT_COMPRESSED = 68
"""The maximum size in bytes of a text that Apache does not compress, because gzip would make it larger
(mod_deflate.c)."""

IN_JSP = "<%-- {} --%>"
IN_XML = "<jsp:root xmlns:jsp='http://java.sun.com/JSP/Page' version='2.0'><!-- {} --></jsp:root>"
"""Sources of pages, in which {} is replaced by a word that the page does not display."""

TIMEOUT_S = 120
"""The timeout of a response, which allows for a busy machine and the compilation of a page."""


class VerificationError(Exception):
    """Raised if a check failed; the message contains the reason."""


class Answer(NamedTuple):
    """A response of the proxy or of the application."""

    status: int
    headers: Message
    body: bytes


class Site:
    """A server at a port, to which requests are sent over one keep-alive connection."""

    def __init__(self, who: str, port: int, tls: stack.Tls | None = None) -> None:
        self.who = who
        if tls is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
        else:
            context = ssl.create_default_context(cafile=str(tls.certificate))
            self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=TIMEOUT_S, context=context)

    def ask(self, path: str, **headers: str) -> Answer:
        with waiting(f"{self.who} was asked for {path}"):
            try:
                return self._ask(path, headers)
            except ConnectionError:
                # The server has closed the idle connection.
                self.connection.close()
                return self._ask(path, headers)

    def _ask(self, path: str, headers: dict[str, str]) -> Answer:
        self.connection.request("GET", path, headers={name.replace("_", "-"): v for name, v in headers.items()})
        response = self.connection.getresponse()
        return Answer(response.status, response.headers, response.read())


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Adds the operation to the message of network errors."""
    try:
        yield
    except TimeoutError as error:
        raise VerificationError(f"{what}, and did not respond within {TIMEOUT_S} s") from error
    except (OSError, http.client.HTTPException) as error:
        raise VerificationError(f"{what}: {error or type(error).__name__}") from error


def verify(configuration: Configuration) -> Iterator[str]:
    """Yields the checks that passed, as sentences. Raises an error if a check failed. The tested servers use the
    same generated files with other ports, another certificate, and copies of the applications."""
    tested(configuration.httpd_conf)
    configuration.readable()
    with Daemons(tells=False) as daemons:
        proxy = Proxy(daemons, configuration)
        yield "apache2 -t accepts the configuration, and the servers' users may read it"
        proxy.started()
        yield from proxy.static()
        yield from proxy.folders()
        yield from proxy.protected()
        yield from proxy.sources()
        yield from proxy.headers()
        yield from proxy.redirect()
        yield from proxy.tls_versions()
        yield from proxy.connector()


def tested(configuration: Path) -> None:
    """Raises an error if Apache rejects the configuration."""
    done = subprocess.run([program("apache2"), "-t", "-f", str(configuration)], capture_output=True, text=True)
    if done.returncode != 0:
        raise VerificationError(f"Apache rejects the configuration:\n{done.stderr.strip()}")


class Proxy:
    """Apache with the configuration, and a Tomcat that can also be reached directly over HTTP."""

    def __init__(self, daemons: Daemons, configuration: Configuration) -> None:
        self.daemons = daemons
        self.folder = folder = daemons.folder
        shutil.copytree(configuration.folder / "app", folder / "app")
        self.marker = secrets.token_hex(16)
        (folder / "apache").mkdir()
        # Apache's messages are shown with an error, like Tomcat's.
        (folder / "apache/error.log").symlink_to(folder / "log")
        self.applications = [replace(one, folder=folder / "app" / one.folder.name) for one in configuration.applications]
        self._mark_sources()
        self.private = replace(configuration, folder=folder, applications=self.applications, tomcat_user=None,
                               secret=secrets.token_hex(16), tls=stack.certificate(folder / "apache"))
        self.application = Site("the application", daemons.listen(self._tomcat)[0])
        self.port, _ = daemons.listen(self._apache)
        self.ask = Site("the proxy", self.port, self.private.tls).ask

    def _mark_sources(self) -> None:
        """Replaces each page with a page that does nothing. A marker in its source reveals whether the source is
        disclosed."""
        for application in self.applications:
            for inside in sources(application):
                page = IN_XML if inside.lower().endswith((".jspx", ".tagx")) else IN_JSP
                (application.folder / inside[1:]).write_text(page.format(self.marker))

    def _write(self) -> None:
        shutil.rmtree(self.folder / "tomcat", ignore_errors=True)
        self.private.write()
        for path in self.folder.rglob("*"):
            self.daemons.own(path)

    def _tomcat(self, port: int) -> int:
        self.private = replace(self.private, http=port, ajp=free_port())
        self._write()
        # Without the property, Tomcat would keep running even if a port is in use. It runs only for seconds, so
        # optimizing compilation does not pay off.
        environment = {"CATALINA_BASE": str(self.private.tomcat),
                       "CATALINA_OPTS": "-Dorg.apache.catalina.startup.EXIT_ON_INIT_FAILURE=true "
                                        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
        return self.daemons.start([stack.TOMCAT / "bin/catalina.sh", "run"],
                                  lambda: is_open(port) and is_open(self.private.ajp), environment=environment)

    def _apache(self, port: int) -> int:
        public = self.private.public
        self.private = replace(self.private, listen=f"127.0.0.1:{port}", public=replace(
            public, redirect=f"127.0.0.1:{free_port()}" if public.redirect else ""))
        conf = self.private.httpd_conf
        conf.write_text(self.private.texts()[conf])
        tested(conf)
        return self.daemons.start([program("apache2"), "-f", conf, "-DFOREGROUND"],
                                  lambda: (self.private.apache / "httpd.pid").exists() and is_open(port),
                                  ending=signal.SIGWINCH)

    def started(self) -> None:
        """Raises an error if an application does not start in the private Tomcat: there is then nothing to compare."""
        self.application.ask("/")  # the response arrives when all applications are deployed
        log = (self.folder / "log").read_text(errors="replace")
        for application in self.applications:
            if f"Context [{application.context}] startup failed" in log:
                said = "\n".join(line for line in log.splitlines() if "SEVERE" in line)
                raise VerificationError(f"{application.context or '/'} does not start in a private Tomcat, so nothing can "
                                        "be compared with it (--no-verify writes the configuration without "
                                        f"verification):\n{said}")

    def files(self, application: stack.Application) -> list[str]:
        """Returns the static files of an application, as paths of the site."""
        return [application.context + path for path in static_files(application)]

    def static(self) -> Iterator[str]:
        """Checks that Apache's response for each static file equals the application's, byte for byte."""
        compared = 0
        for application in self.applications:
            for path in self.files(application):
                proxy, _ = self.same(path)
                if proxy.status != 200:
                    raise VerificationError(f"{path}: the proxy responds with {proxy.status}")
                # Tomcat's ETags contain the size and the time in decimal digits, and are weak.
                if re.fullmatch(r'W/"\d+-\d{10,}"', proxy.headers["ETag"] or ""):
                    raise VerificationError(f"{path}: the response comes from the application, not from the proxy")
                compared += 1
        if compared:
            yield f"static files that come from Apache, byte for byte as from the application: {compared}"

    def folders(self) -> Iterator[str]:
        """Checks that responses for directories, and for missing paths in them, equal the application's, including its
        welcome pages."""
        compared = 0
        for application in self.applications:
            for path in (path for path in application.static if path not in application.files):
                top = application.folder / path.strip("/")
                inside = [top, *(place for place in sorted(top.rglob("*")) if place.is_dir())]
                for place in inside:
                    asked = f"{application.context}/{place.relative_to(application.folder).as_posix()}"
                    for end in ("", "/", "/no-such-path") if not is_refused(asked) else ():
                        self.same(asked + end)
                        compared += 1
        if compared:
            yield ("directory paths that get the same response from the proxy as from the application, including welcome pages: "
                   f"{compared}")

    def same(self, path: str) -> tuple[Answer, Answer]:
        """Returns the responses of the proxy and the application. Raises an error if they differ."""
        proxy, behind = self.ask(quote(path)), self.application.ask(quote(path))
        if (proxy.status, proxy.body) != (behind.status, behind.body):
            raise VerificationError(f"{path}: the proxy responds with {proxy.status} and {len(proxy.body)} bytes, the "
                                    f"application with {behind.status} and {len(behind.body)} bytes")
        for name in "Content-Type", "Location":
            if proxy.headers[name] != behind.headers[name]:
                raise VerificationError(f"{path}: {name} of the proxy is `{proxy.headers[name] or ''}`, and that of the "
                                        f"application is `{behind.headers[name] or ''}`")
        return proxy, behind

    def protected(self) -> Iterator[str]:
        """Checks that internal paths of the application are rejected in any spelling."""
        asked = 0
        for application in self.applications:
            context = application.context
            files = [f"/{path.relative_to(application.folder).as_posix()}"
                     for path in sorted(application.folder.rglob("*")) if path.is_file()]
            paths = [context + path for path in files
                     if is_inside(path) or is_refused(path)]
            paths += [f"{context}/WEB-INF/web.xml", f"{context}/WEB-INF", f"{context}/WEB-INF/", f"{context}/META-INF/"]
            first = f"{context}/WEB-INF/web.xml"
            paths += [first.replace("WEB-INF", other) for other in
                      ("web-inf", "Web-Inf", "%57EB-INF", "/WEB-INF", "./WEB-INF", "x/../WEB-INF", "WEB-INF;x=y",
                       "WEB-INF%2f..%2fWEB-INF", "WEB-INF%00")]
            if application.static:
                paths.append(f"{context}{application.static[0]}/../WEB-INF/web.xml")
            for path in paths:
                answer = self.ask(quote(path, safe="/%;"))
                if answer.status not in (400, 403, 404):
                    raise VerificationError(f"{path}: the proxy responds with {answer.status}, but must reject the request")
                asked += 1
        yield f"protected paths that are rejected: {asked}"

    def sources(self) -> Iterator[str]:
        """Checks that the proxy serves the source of a page, or a class, only if the application serves it,
        too."""
        asked, marker = 0, self.marker.encode()
        for application in self.applications:
            for inside in sources(application):
                whole, end = quote(application.context + inside), Path(inside).suffix
                stem = whole.removesuffix(quote(end))
                for way in (whole, f"{whole};x=y", f"{whole}/", f"{whole}%20", f"/{whole}", f"{stem}%2e{end[1:]}",
                            stem + end.upper()):
                    if marker in self.ask(way).body and marker not in self.application.ask(way).body:
                        raise VerificationError(f"{way}: the proxy shows the source, but the application does not")
                asked += 1
        if asked:
            yield f"sources (JSP pages, classes and archives: {asked}) are shown only where the application shows them"

    def headers(self) -> Iterator[str]:
        """Checks that headers disclose no version, text is compressed, and only versioned files are immutable."""
        late = soon = shrunk = 0
        for application in self.applications:
            missing = self.ask(f"{application.context}/no-such-path-{secrets.token_hex(4)}")
            for name in "X-Powered-By", "Via":
                if missing.headers[name]:
                    raise VerificationError(f"the header {name} discloses `{missing.headers[name]}`")
            hsts = missing.headers["Strict-Transport-Security"]
            if self.private.public.hsts and hsts is None:
                raise VerificationError("the header Strict-Transport-Security is missing, although --hsts was given")
            if not self.private.public.hsts and hsts is not None:
                raise VerificationError(f"the header Strict-Transport-Security is `{hsts}`, although --hsts was not given")
            if (missing.headers["Server"] or "") != "Apache" or b"Tomcat" in missing.body:
                raise VerificationError("an error page or the Server header discloses a product or version")
            for path in self.files(application):
                answer = self.ask(quote(path), Accept_Encoding="gzip")
                rule = answer.headers["Cache-Control"] or ""
                is_versioned = re.search(stack.VERSIONED, path) is not None
                if not rule:
                    raise VerificationError(f"{path}: Cache-Control is missing")
                if ("immutable" in rule) != is_versioned:
                    raise VerificationError(f"{path}: Cache-Control is `{rule}`, but must {'' if is_versioned else 'not '}"
                                            "contain `immutable`")
                late, soon = late + is_versioned, soon + (not is_versioned)
                if answer.headers["X-Content-Type-Options"] != "nosniff":
                    raise VerificationError(f"{path}: X-Content-Type-Options is not nosniff")
                kind = (answer.headers["Content-Type"] or "").split(";")[0]
                is_compressed = answer.headers["Content-Encoding"] == "gzip"
                if kind in stack.COMPRESSED.split() and not is_compressed and len(answer.body) > NOT_COMPRESSED:
                    raise VerificationError(f"{path}: {kind} is not compressed")
                shrunk += is_compressed
                since = answer.headers["Last-Modified"] or ""
                again = self.ask(quote(path), Accept_Encoding="gzip", If_Modified_Since=since)
                if again.status != 304:
                    raise VerificationError(f"{path}: revalidation returns {again.status} instead of 304")
        yield (f"compressed texts: {shrunk}; versioned files that expire in a year: {late}; other files, revalidated with 304: "
               f"{soon}; no header discloses a version")

    def redirect(self) -> Iterator[str]:
        """Checks that requests without TLS are redirected to the site."""
        plain = self.private.public.redirect
        if not plain:
            return
        path = f"{self.applications[0].context}/any?x=y"
        answer = Site("the port without TLS", int(plain.rsplit(":", 1)[1])).ask(path)
        wanted = f"https://{self.private.name}:{self.port}{path}"
        if (answer.status, answer.headers["Location"]) != (301, wanted):
            raise VerificationError(f"without TLS, the response has the status {answer.status} and the Location "
                                    f"`{answer.headers['Location'] or ''}` instead of 301 and `{wanted}`")
        yield "without TLS, all requests are redirected to the site"

    def tls_versions(self) -> Iterator[str]:
        """Checks that TLS 1.2 and 1.3 are supported, and TLS 1.1 is not."""
        for version, is_wanted in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True),
                                   (ssl.TLSVersion.TLSv1_3, True)):
            context = ssl.create_default_context(cafile=str(self.private.tls.certificate))
            with warnings.catch_warnings():  # about the old version
                warnings.simplefilter("ignore")
                context.minimum_version = context.maximum_version = version
            if not is_wanted:
                context.set_ciphers("ALL:@SECLEVEL=0")  # otherwise this client would refuse it
            with waiting(f"the proxy received a {version.name} handshake"):
                try:
                    with (socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S) as plain,
                          context.wrap_socket(plain, server_hostname="127.0.0.1")):
                        is_spoken = True
                except (ssl.SSLError, ConnectionError):
                    is_spoken = False
            if is_spoken != is_wanted:
                raise VerificationError(f"the proxy {'accepts' if is_spoken else 'rejects'} {version.name}")
        yield "TLS 1.2 and 1.3 are supported, TLS 1.1 is rejected"

    def connector(self) -> Iterator[str]:
        """Checks that only the proxy can use AJP."""
        addresses = {address for address, port in listening() if port == self.private.ajp}
        if not addresses:
            raise VerificationError(f"no process listens on the AJP port {self.private.ajp}")
        if not addresses <= LOOPBACK:
            raise VerificationError(f"AJP listens on {', '.join(sorted(addresses))}, not only on the loopback interface")
        status = ajp_status(self.private.ajp)
        if status != 403:
            raise VerificationError(f"AJP responds with {status} instead of 403 to a request without the secret")
        yield "AJP listens only on the loopback interface, and responds with 403 without the secret"


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""The loopback addresses 127.0.0.1, also as an IPv4-mapped IPv6 address, and ::1, in the format of proc(5)."""


def listening() -> Iterator[tuple[str, int]]:
    """Yields addresses and ports with listeners on this machine (proc(5), /proc/net/tcp)."""
    for table in "/proc/net/tcp", "/proc/net/tcp6":
        for line in Path(table).read_text().splitlines()[1:] if Path(table).exists() else []:
            words = line.split()
            if words[3] == "0A":
                address, port = words[1].split(":")
                yield address, int(port, 16)


def ajp_status(port: int) -> int:
    """Returns the status of GET / over AJP without a secret (Apache Tomcat Connectors, AJP Protocol
    Reference)."""
    def text(word: str) -> bytes:
        return len(word).to_bytes(2, "big") + word.encode() + b"\0"

    request = (b"\x02\x02" + text("HTTP/1.1") + text("/") + text("127.0.0.1") + text("localhost") + text("127.0.0.1")
               + (80).to_bytes(2, "big") + b"\0" + b"\0\0" + b"\xff")
    with (waiting(f"the AJP server on port {port} was sent a request without the secret"),
          socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection):
        connection.sendall(b"\x12\x34" + len(request).to_bytes(2, "big") + request)
        answer = connection.makefile("rb").read(7)
    if len(answer) < 7 or answer[:2] != b"AB" or answer[4] != 4:
        return 0
    return int.from_bytes(answer[5:7], "big")
