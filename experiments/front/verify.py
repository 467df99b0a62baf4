# SPDX-License-Identifier: Apache-2.0
"""Verifies a generated configuration with a private Tomcat and a private Apache: what the front answers is what
the application would, what is protected is refused, and headers are as they should be."""

import http.client
import re
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from email.message import Message
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import stack
from archives import static_files
from lab_kit.daemons import Daemons, free_port, is_open, program

NOT_COMPRESSED = 68
"""Bytes of the largest text that Apache leaves as it is, because gzip would make it larger (mod_deflate.c)."""


class VerificationError(Exception):
    """Something is not as it must be; the message says what."""


class Answer(NamedTuple):
    """What came."""

    status: int
    headers: Message
    body: bytes


class Site:
    """A port that is asked over one connection, which is kept alive."""

    def __init__(self, port: int, tls: stack.Tls | None = None) -> None:
        if tls is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        else:
            context = ssl.create_default_context(cafile=str(tls.certificate))
            self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)

    def ask(self, path: str, **headers: str) -> Answer:
        self.connection.request("GET", path, headers={name.replace("_", "-"): v for name, v in headers.items()})
        response = self.connection.getresponse()
        return Answer(response.status, response.headers, response.read())


def verify(applications: Sequence[stack.Application], written: Path) -> Iterator[str]:
    """What was found to be so, in sentences. Error: what is not. `written`: the configuration itself; what is asked has
    another port, another certificate, and copies of the applications."""
    tested(written)
    with Daemons(tells=False) as daemons:
        copies = []
        for application in applications:
            copy = daemons.folder / "app" / application.folder.name
            shutil.copytree(application.folder, copy)
            copies.append(replace(application, folder=copy))
        front = Front(daemons, copies)
        yield "apache2 -t accepts the configuration"
        front.started()
        yield from front.static()
        yield from front.protected()
        yield from front.headers()
        yield from front.tls_versions()
        yield from front.connector()


def tested(configuration: Path) -> None:
    """Error: Apache does not take it."""
    done = subprocess.run([program("apache2"), "-t", "-f", str(configuration)], capture_output=True, text=True)
    if done.returncode != 0:
        raise VerificationError(f"Apache refuses the configuration:\n{done.stderr.strip()}")


class Front:
    """Apache with the configuration, before a Tomcat that answers over HTTP, too."""

    def __init__(self, daemons: Daemons, applications: Sequence[stack.Application]) -> None:
        self.applications = applications
        self.folder = folder = daemons.folder
        self.tls = stack.certificate(folder)
        for path in self.tls.certificate, self.tls.key:
            daemons.own(path)
        secret = secrets.token_hex(16)
        for name in "conf", "webapps", "temp", "work", "logs":
            daemons.make(name)
        for application in applications:
            name = application.context.strip("/").replace("/", "#") or "ROOT"
            shutil.copytree(application.folder, folder / "webapps" / name)
        daemons.write("conf/web.xml", stack.tomcat_web())

        def tomcat(port: int) -> int:
            self.ajp = free_port()
            daemons.write("conf/server.xml", stack.tomcat_server(http=port, ajp=self.ajp, secret=secret))
            return daemons.start(stack.tomcat_command(folder), lambda: is_open(port) and is_open(self.ajp))

        self.application = Site(daemons.listen(tomcat)[0])
        daemons.write("workers.properties", stack.workers(self.ajp, secret))

        def apache(port: int) -> int:
            text = stack.apache(folder, applications, listen=f"127.0.0.1:{port}", kind="jk", backend=self.ajp,
                                secret=secret, name="127.0.0.1", tls=self.tls, keep_alive=300)
            conf = daemons.write("httpd.conf", text)
            tested(conf)
            return daemons.start([program("apache2"), "-f", conf, "-DFOREGROUND"],
                                 lambda: (folder / "httpd.pid").exists() and is_open(port), ending=signal.SIGWINCH)

        self.port, _ = daemons.listen(apache)
        self.ask = Site(self.port, self.tls).ask

    def started(self) -> None:
        """Error: an application cannot be compared, because it does not start without what is around it elsewhere."""
        self.application.ask("/")  # is answered when all are deployed
        log = (self.folder / "log").read_text(errors="replace")
        for application in self.applications:
            if f"Context [{application.context}] startup failed" in log:
                said = "\n".join(line for line in log.splitlines() if "SEVERE" in line)
                raise VerificationError(f"{application.context or '/'} does not start in a Tomcat of its own, so nothing can "
                                        f"be compared with it (--no-verify writes only):\n{said}")

    def files(self, application: stack.Application) -> list[str]:
        """The static files of an application, as paths of the site."""
        return [application.context + path for path in static_files(application)]

    def static(self) -> Iterator[str]:
        """Every static path is answered by Apache byte for byte as the application would."""
        compared = 0
        for application in self.applications:
            for path in self.files(application):
                asked = quote(path)
                front, behind = self.ask(asked), self.application.ask(asked)
                if front.headers["Content-Type"] != behind.headers["Content-Type"]:
                    raise VerificationError(f"{path}: the front says {front.headers['Content-Type']}, the application "
                                            f"{behind.headers['Content-Type']}")
                if (front.status, front.body) != (behind.status, behind.body) or front.status != 200:
                    raise VerificationError(f"{path}: the front answers {front.status} with {len(front.body)} bytes, the "
                                            f"application {behind.status} with {len(behind.body)}")
                # Tomcat's tags have the size and the time in decimal digits, and are weak.
                if re.fullmatch(r'W/"\d+-\d{10,}"', front.headers["ETag"] or ""):
                    raise VerificationError(f"{path}: it is the application that answers it, not the front")
                compared += 1
        yield f"{compared} static files come from Apache, byte for byte as from the application"

    def protected(self) -> Iterator[str]:
        """What belongs to the application's inside is refused, however it is written."""
        asked = 0
        for application in self.applications:
            context = application.context
            inside = [path for name in ("WEB-INF", "META-INF") for path in
                      sorted((application.folder / name).rglob("*")) if path.is_file()]
            paths = [f"{context}/{path.relative_to(application.folder).as_posix()}" for path in inside]
            paths += [f"{context}/WEB-INF/web.xml", f"{context}/WEB-INF", f"{context}/WEB-INF/", f"{context}/META-INF/"]
            first = f"{context}/WEB-INF/web.xml"
            paths += [first.replace("WEB-INF", other) for other in
                      ("web-inf", "Web-Inf", "%57EB-INF", "/WEB-INF", "./WEB-INF", "x/../WEB-INF", "WEB-INF;x=y",
                       "WEB-INF%2f..%2fWEB-INF", "WEB-INF%00")]
            if application.static:
                paths.append(f"{context}{application.static[0]}/../WEB-INF/web.xml")
            for path in paths:
                answer = self.ask(path)
                if answer.status not in (400, 403, 404):
                    raise VerificationError(f"{path}: the front answers {answer.status}, and must refuse it")
                asked += 1
        yield f"{asked} protected paths are refused"

    def headers(self) -> Iterator[str]:
        """Nothing leaks; text is compressed; versioned files expire late, and others are asked for again."""
        late = soon = shrunk = 0
        for application in self.applications:
            missing = self.ask(f"{application.context}/no-such-path-{secrets.token_hex(4)}")
            for name in "X-Powered-By", "Via":
                if missing.headers[name]:
                    raise VerificationError(f"{name} says {missing.headers[name]}")
            if "max-age" not in (missing.headers["Strict-Transport-Security"] or ""):
                raise VerificationError("Strict-Transport-Security is missing")
            if (missing.headers["Server"] or "") != "Apache" or b"Tomcat" in missing.body:
                raise VerificationError("an error page or the header Server says which version of what runs here")
            for path in self.files(application):
                answer = self.ask(quote(path), Accept_Encoding="gzip")
                rule = answer.headers["Cache-Control"] or ""
                is_versioned = re.search(stack.VERSIONED, path) is not None
                if ("immutable" in rule) != is_versioned or not rule:
                    raise VerificationError(f"{path}: Cache-Control is `{rule}`")
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
                    raise VerificationError(f"{path}: asked again, it comes with {again.status} and not with 304")
        yield (f"{shrunk} texts are compressed; {late} versioned files expire in a year, {soon} others are asked for "
               "again and are 304; no header tells a version")

    def tls_versions(self) -> Iterator[str]:
        """TLS 1.2 and 1.3, and nothing older."""
        for version, is_wanted in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True),
                                   (ssl.TLSVersion.TLSv1_3, True)):
            context = ssl.create_default_context(cafile=str(self.tls.certificate))
            with warnings.catch_warnings():  # that the version is old
                warnings.simplefilter("ignore")
                context.minimum_version = context.maximum_version = version
            if not is_wanted:
                context.set_ciphers("ALL:@SECLEVEL=0")  # else this side would refuse it
            try:
                with (socket.create_connection(("127.0.0.1", self.port), timeout=30) as plain,
                      context.wrap_socket(plain, server_hostname="127.0.0.1")):
                    is_spoken = True
            except (ssl.SSLError, ConnectionError):
                is_spoken = False
            if is_spoken != is_wanted:
                raise VerificationError(f"{version.name} is {'' if is_spoken else 'not '}spoken")
        yield "TLS 1.2 and 1.3 are spoken, TLS 1.1 is refused"

    def connector(self) -> Iterator[str]:
        """AJP is for the front alone."""
        addresses = {address for address, port in listening() if port == self.ajp}
        if not addresses or not addresses <= LOOPBACK:
            raise VerificationError(f"AJP listens on {', '.join(sorted(addresses)) or 'no address'}, not on loopback alone")
        status = ajp_status(self.ajp)
        if status != 403:
            raise VerificationError(f"AJP answers {status} to who does not know the secret, and must answer 403")
        yield "AJP listens on loopback alone, and answers 403 without the secret"


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""127.0.0.1, the same as an address of IPv6, and ::1, as proc(5) has them."""


def listening() -> Iterator[tuple[str, int]]:
    """Addresses and ports on which somebody on this machine listens (proc(5), /proc/net/tcp)."""
    for table in "/proc/net/tcp", "/proc/net/tcp6":
        for line in Path(table).read_text().splitlines()[1:] if Path(table).exists() else []:
            words = line.split()
            if words[3] == "0A":
                address, port = words[1].split(":")
                yield address, int(port, 16)


def ajp_status(port: int) -> int:
    """The status of GET / over AJP without a secret (Apache Tomcat Connectors, AJP Protocol Reference)."""
    def text(word: str) -> bytes:
        return len(word).to_bytes(2, "big") + word.encode() + b"\0"

    request = (b"\x02\x02" + text("HTTP/1.1") + text("/") + text("127.0.0.1") + text("localhost") + text("127.0.0.1")
               + (80).to_bytes(2, "big") + b"\0" + b"\0\0" + b"\xff")
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"\x12\x34" + len(request).to_bytes(2, "big") + request)
        answer = connection.makefile("rb").read(7)
    if len(answer) < 7 or answer[:2] != b"AB" or answer[4] != 4:
        return 0
    return int.from_bytes(answer[5:7], "big")
