# SPDX-License-Identifier: Apache-2.0
"""TLS in appserver/ada/http_tls, with Python's ssl, curl, and openssl s_client as clients. The numbers in comments are
sections of RFC 8446 (TLS 1.3), RFC 5246 (TLS 1.2) and the RFCs that they name."""

import gzip
import os
import random
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import certificates
from client import TIMEOUT_S, Connection, NoAnswer, request
from test_services import PROGRAMS, Program

FILE = {f"{size}.bin": random.Random(size).randbytes(size)
        for size in (0, 1, 16_383, 16_384, 16_385, 40_000, 65_536, 8_000_000)}
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes certificates and files, which tests copy."""
    folder = tmp_path_factory.mktemp("tls")
    certificates.make_own(folder, "first", "first.example", "localhost")
    certificates.make_own(folder, "second", "second.example", "*.second.example", key="rsa:2048")
    certificates.make_own(folder, "renewed", "first.example", "localhost")
    certificates.make_own(folder, "nameless")
    certificates.make_own(folder, "clients")
    certificates.make_own(folder, "others")
    certificates.make_signed(folder, "ada", "clients", "/O=Shop/CN=ada")
    certificates.make_signed(folder, "eve", "others", "/O=Shop/CN=ada")
    certificates.make_dated(folder, "expired", "20200101000000Z", "20200201000000Z", "first.example")
    certificates.make_dated(folder, "future", "20900101000000Z", "20900201000000Z", "first.example")
    certificates.openssl("pkey", "-in", str(folder / "first.key"), "-aes256", "-passout", "pass:secret",
                         "-out", str(folder / "encrypted.key"))
    for name, content in FILE.items():
        (folder / name).write_bytes(content)
    return folder


class Secured(Program):
    """A running tls_server."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        super().__init__("tls_server", str(folder), *arguments, ports=2)

    def command(self, text: str) -> str:
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def handshakes(self) -> tuple[int, int, int]:
        """Returns the numbers of full, resumed and failed handshakes."""
        full, resumed, failed = map(int, self.command("counts").split())
        return full, resumed, failed

    def secure(self, context: ssl.SSLContext | None = None, host: str | None = "first.example",
               session: ssl.SSLSession | None = None) -> Connection:
        """Connects with TLS. A connection that ends without close_notify raises SSLEOFError."""
        connection = Connection(self.addresses[0])
        try:
            connection.socket = (context or trusting()).wrap_socket(
                connection.socket, server_hostname=host, session=session, suppress_ragged_eofs=False)
        except BaseException:
            connection.socket.close()
            raise
        return connection

    def ask(self, path: str = "/connection", context: ssl.SSLContext | None = None, host: str | None = "first.example") -> str:
        with self.secure(context, host) as connection:
            answer = connection.send(request("GET", path)).answer()
            assert answer.status == 200
            return answer.body.decode()

    def must_serve(self) -> None:
        assert self.ask() == "secure 127.0.0.1 127.0.0.1 https"

    @property
    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def resident_bytes(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def finish(self) -> None:
        """Ends the server, which must stop without an error."""
        if self.process.poll() is None:
            assert self.end() == 0
        self.close()


Start = Callable[..., Secured]


def prepared(made: Path, folder: Path) -> Path:
    """Returns a copy of the certificates that a test may change."""
    for path in made.glob("*.*"):
        if path.suffix in (".pem", ".key"):
            shutil.copy(path, folder)
        elif path.suffix == ".bin":
            (folder / path.name).hardlink_to(path)
    return folder


@pytest.fixture
def start(made: Path, tmp_path: Path) -> Iterator[Start]:
    started: list[Secured] = []
    folder = prepared(made, tmp_path)

    def run(*arguments: str) -> Secured:
        started.append(Secured(folder, *arguments))
        return started[-1]

    yield run
    for server in started:
        if server.process.poll() is None:
            server.close()


@pytest.fixture(scope="module")
def server(made: Path) -> Iterator[Secured]:
    """A server that tests share."""
    server = Secured(made)
    yield server
    server.finish()


def trusting(version: ssl.TLSVersion | None = None, *protocols: str) -> ssl.SSLContext:
    """Returns the settings of a client that accepts any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if version is not None:
        context.minimum_version = context.maximum_version = version
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def s_client(server: Secured, *arguments: str, text: str = "", timeout_s: float = TIMEOUT_S) -> str:
    """Returns the output of openssl s_client, with its errors."""
    process = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{server.addresses[0][1]}", *arguments], input=text,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout_s, errors="replace")
    return process.stdout


def names(connection: Connection, folder: Path) -> str:
    """Returns the name of the certificate file that the server has sent."""
    sent = connection.socket.getpeercert(binary_form=True)
    return next(path.stem for path in folder.glob("*.pem") if ssl.PEM_cert_to_DER_cert(path.read_text()) == sent)


# Versions, cipher suites and features


@pytest.mark.parametrize("version", VERSIONS)
def test_versions(server: Secured, version: ssl.TLSVersion) -> None:
    expected = "TLSv1.2 " if version == ssl.TLSVersion.TLSv1_2 else "TLSv1.3 "
    assert server.ask("/tls", trusting(version)) == expected


@pytest.mark.parametrize("version", ["-tls1", "-tls1_1"])
def test_old_versions_are_rejected(server: Secured, version: str) -> None:
    """RFC 8996, with the alert of RFC 5246, E.1."""
    output = s_client(server, version, "-cipher", "DEFAULT:@SECLEVEL=0")
    assert "alert protocol version" in output and "Cipher is (NONE)" in output


def test_first_version_can_be_3(start: Start) -> None:
    server = start("version=TLS_1_3")
    assert server.ask("/tls", trusting(ssl.TLSVersion.TLSv1_3)) == "TLSv1.3 "
    with pytest.raises(ssl.SSLError, match="ALERT_PROTOCOL_VERSION"):
        server.secure(trusting(ssl.TLSVersion.TLSv1_2))
    server.finish()


@pytest.mark.parametrize("suite, host", [
    *[(f"ECDHE-{key}-{suite}", host) for key, host in (("ECDSA", "first.example"), ("RSA", "second.example"))
      for suite in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")]])
def test_suites_of_tls_1_2(server: Secured, suite: str, host: str) -> None:
    context = trusting(ssl.TLSVersion.TLSv1_2)
    context.set_ciphers(suite)
    with server.secure(context, host) as connection:
        assert connection.socket.cipher()[0] == suite
        assert connection.socket.compression() is None


@pytest.mark.parametrize("suite", ["AES128-GCM-SHA256", "AES128-SHA", "ECDHE-RSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA",
                                   "DHE-RSA-AES128-GCM-SHA256", "AECDH-AES128-SHA", "NULL-SHA256"])
def test_weak_suites_are_rejected(server: Secured, suite: str) -> None:
    """No suite without forward secrecy, authenticated encryption, or a certificate."""
    output = s_client(server, "-tls1_2", "-servername", "second.example", "-cipher", f"{suite}:@SECLEVEL=0")
    assert "alert handshake failure" in output, output


def test_only_strong_keys(start: Start) -> None:
    server = start()
    certificates.make_own(server.folder, "first", "first.example", key="rsa:1024")
    assert server.command("reload") == (
        f"{server.folder}/first.pem contains no usable certificate in PEM format: ee key too small")
    server.must_serve()
    server.finish()


def test_early_data_is_not_offered(server: Secured) -> None:
    """Requests in early data could be replayed (8)."""
    output = s_client(server, "-tls1_3", "-ign_eof",
                      text="GET /connection HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    assert "HTTP/1.1 200" in output and "Max Early Data: 0" in output, output


def test_curl_verifies(server: Secured) -> None:
    port = server.addresses[0][1]
    for version in ("--tls-max 1.2", "--tlsv1.3"):
        output = subprocess.run(
            ["curl", "-sS", *version.split(), "--cacert", server.folder / "first.pem", "--resolve",
             f"first.example:{port}:127.0.0.1", f"https://first.example:{port}/connection"],
            capture_output=True, text=True, timeout=TIMEOUT_S)
        assert (output.stdout, output.stderr) == ("secure 127.0.0.1 127.0.0.1 https", "")


def test_plain_listener_beside(server: Secured) -> None:
    assert server.get("/connection", number=1).body == b"plain 127.0.0.1 127.0.0.1 http"
    assert server.get("/tls", number=1).body == b" "


def test_scheme_of_a_proxy(server: Secured) -> None:
    """A trusted proxy reports the scheme of its client, whether or not its own connection is secure."""
    for proto in ("http", "https"):
        with server.secure() as connection:
            answer = connection.send(request("GET", "/connection", "X-Forwarded-For: 192.0.2.1",
                                             f"X-Forwarded-Proto: {proto}")).answer()
            assert answer.body.decode() == f"secure 127.0.0.1 192.0.2.1 {proto}"


def test_plain_programs_are_not_linked_with_openssl() -> None:
    libraries = subprocess.run(["ldd", PROGRAMS / "crowded_server"], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in libraries and "libssl" not in libraries and "libcrypto" not in libraries


# ALPN (RFC 7301)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("offered, selected", [
    (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (["http/1.1", "h2"], "http/1.1"),
    (["http/1.0", "x" * 255, "http/1.1"], "http/1.1"), ([], None)])
def test_protocols(server: Secured, version: ssl.TLSVersion, offered: list[str], selected: str | None) -> None:
    with server.secure(trusting(version, *offered)) as connection:
        assert connection.socket.selected_alpn_protocol() == selected
        assert connection.send(request("GET", "/connection")).answer().status == 200


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
@pytest.mark.parametrize("offered", ["h2", "http/1.0", "http/1.1x,HTTP/1.1", "h2,h3,spdy/3"])
def test_other_protocols_are_rejected(server: Secured, version: str, offered: str) -> None:
    """The alert is no_application_protocol (3.2)."""
    assert "alert no application protocol" in s_client(server, version, "-alpn", offered)


# Hosts (RFC 6066, 3)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("host, expected", [
    ("first.example", "first"), ("localhost", "first"), ("second.example", "second"), ("www.second.example", "second"),
    ("WWW.Second.EXAMPLE", "second"), ("a.b.second.example", "first"), (".second.example", "first"),
    ("unknown.example", "first"), ("second.example.org", "first"), ("xsecond.example", "first"), (None, "first")])
def test_certificate_for_host(server: Secured, version: ssl.TLSVersion, host: str | None, expected: str) -> None:
    if host is not None and host.startswith("."):
        output = s_client(server, "-servername", host)
        assert f"CN = {expected}" in output
        return
    with server.secure(trusting(version), host) as connection:
        assert names(connection, server.folder) == expected
        assert connection.send(request("GET", "/connection")).answer().status == 200


# Sessions


def resumes(server: Secured, context: ssl.SSLContext, session: ssl.SSLSession, host: str = "first.example") -> bool:
    with server.secure(context, host, session) as connection:
        assert connection.send(request("GET", "/connection")).answer().status == 200
        return connection.socket.session_reused


def new_session(server: Secured, context: ssl.SSLContext, host: str = "first.example") -> ssl.SSLSession:
    with server.secure(context, host) as connection:
        assert not connection.socket.session_reused
        assert connection.send(request("GET", "/connection")).answer().status == 200
        return connection.socket.session


@pytest.mark.parametrize("version", VERSIONS)
def test_sessions_are_resumed(start: Start, version: ssl.TLSVersion) -> None:
    server, context = start(), trusting(version)
    session = new_session(server, context)
    assert session.has_ticket and 0 < session.ticket_lifetime_hint <= 7_200
    for _ in range(3):
        assert resumes(server, context, session)
    assert server.handshakes() == (1, 3, 0)
    server.finish()


@pytest.mark.parametrize("version", VERSIONS)
def test_sessions_of_each_host(server: Secured, version: ssl.TLSVersion) -> None:
    """A session must not be resumed for another host (RFC 6066, 3), even with the same certificate."""
    context = trusting(version)
    session = new_session(server, context, "www.second.example")
    assert resumes(server, context, session, "www.second.example")
    for host in ("first.example", "second.example", "unknown.example", None):
        assert not resumes(server, context, session, host)
    assert resumes(server, context, session, "www.second.example")


@pytest.mark.parametrize("version", VERSIONS)
def test_sessions_after_reload(start: Start, made: Path, version: ssl.TLSVersion) -> None:
    """The keys of tickets do not depend on the certificates."""
    server, context = start(), trusting(version)
    session = new_session(server, context)
    for name in ("renewed", "first", "renewed"):
        for suffix in ("pem", "key"):
            replace(server, f"first.{suffix}", made / f"{name}.{suffix}")
        assert server.command("reload") == "reloaded"
        assert resumes(server, context, session)
    server.finish()


@pytest.mark.parametrize("version", VERSIONS)
def test_ticket_keys_are_replaced(start: Start, version: ssl.TLSVersion) -> None:
    """A key is used for 2 s and accepted for 2 more seconds."""
    server, context = start("lifetime=2"), trusting(version)
    session = new_session(server, context)
    key_name = None
    time.sleep(0.5)
    assert resumes(server, context, session)
    time.sleep(4)
    assert not resumes(server, context, session)
    session = new_session(server, context)
    assert resumes(server, context, session)
    server.finish()


def ticket_of(server: Secured) -> bytes:
    """Returns a ticket of TLS 1.2, whose first 16 bytes are the name of its key (RFC 5077, 4)."""
    output = s_client(server, "-tls1_2")
    lines = output.partition("TLS session ticket:\n")[2].splitlines()
    dump = [line.partition(" - ")[2][:47].replace("-", " ") for line in lines if " - " in line[:12]]
    return bytes.fromhex(" ".join(dump))


def test_names_of_ticket_keys(start: Start) -> None:
    server = start("lifetime=2")
    first = ticket_of(server)[:16]
    assert first == ticket_of(server)[:16] and len(first) == 16
    server.command("reload")
    assert first == ticket_of(server)[:16]
    time.sleep(2.2)
    assert first != ticket_of(server)[:16]
    server.finish()


@pytest.mark.parametrize("version", VERSIONS)
def test_changed_tickets_are_ignored(start: Start, version: ssl.TLSVersion) -> None:
    """A ticket of another server, which has other keys, leads to a full handshake."""
    context = trusting(version)
    server, other = start(), start()
    session = new_session(other, context)
    assert not resumes(server, context, session)
    server.must_serve()


# Reloading


def replace(server: Secured, name: str, source: Path) -> None:
    """Replaces a file as certificate clients do."""
    shutil.copy(source, server.folder / "new")
    (server.folder / "new").rename(server.folder / name)


def test_reload(start: Start, made: Path) -> None:
    server = start()
    with server.secure() as old:
        assert names(old, made) == "first"
        replace(server, "first.pem", made / "renewed.pem")
        replace(server, "first.key", made / "renewed.key")
        assert server.command("reload") == "reloaded"
        with server.secure() as new:
            assert names(new, made) == "renewed"
        for _ in range(3):
            assert old.send(request("GET", "/connection")).answer().status == 200
    server.finish()


@pytest.mark.parametrize("name, source, message", [
    ("first.pem", None, "{0}/first.pem does not exist"),
    ("first.key", None, "{0}/first.key does not exist"),
    ("first.key", "renewed.key", "{0}/first.key contains no usable private key in PEM format: key values mismatch"),
    ("first.key", "second.key", "{0}/first.key does not match the certificate in {0}/first.pem"),
    ("first.key", "encrypted.key", "{0}/first.key is encrypted with a password"),
    ("first.pem", "first.key", "{0}/first.pem contains no usable certificate in PEM format: no start line"),
    ("first.key", "first.pem", "{0}/first.key contains no usable private key in PEM format: unsupported"),
    ("first.pem", "0.bin", "{0}/first.pem contains no usable certificate in PEM format: no start line"),
    ("first.pem", "40000.bin", "{0}/first.pem contains no usable certificate in PEM format: no start line"),
    ("second.pem", "nameless.pem", "{0}/second.key does not match the certificate in {0}/second.pem")])
def test_failed_reload(start: Start, made: Path, name: str, source: str | None, message: str) -> None:
    """The server continues with the previous certificates."""
    server = start()
    (server.folder / name).unlink()
    if source is not None:
        shutil.copy(made / source, server.folder / name)
    assert server.command("reload") == message.format(server.folder)
    with server.secure() as connection:
        assert names(connection, made) == "first"
    server.must_serve()
    for original in ("first.pem", "first.key", "second.pem"):
        shutil.copy(made / original, server.folder / original)
    assert server.command("reload") == "reloaded"
    server.must_serve()
    server.finish()


def test_certificates_need_names(start: Start, made: Path) -> None:
    server = start()
    replace(server, "second.pem", made / "nameless.pem")
    replace(server, "second.key", made / "nameless.key")
    assert server.command("reload") == f"the certificate in {server.folder}/second.pem contains no DNS name"
    server.finish()


def test_failed_start(made: Path, tmp_path: Path) -> None:
    folder = prepared(made, tmp_path)
    (folder / "second.key").unlink()
    process = subprocess.run([PROGRAMS / "tls_server", folder], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=TIMEOUT_S)
    assert (process.returncode, process.stdout) == (1, f"{folder}/second.key does not exist\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run the server as another user")
def test_unreadable_key(made: Path) -> None:
    with prepared_for_nobody(made) as folder:
        process = subprocess.run([shutil.copy(PROGRAMS / "tls_server", folder), folder], stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=TIMEOUT_S, user=65534, group=65534)
        assert process.stdout == f"cannot read {folder}/second.key\n"


class prepared_for_nobody:
    """A copy of the certificates that other users can reach, except for one key."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __enter__(self) -> Path:
        self.folder = Path(tempfile.mkdtemp())
        for path in self.made.glob("*.pem"):
            shutil.copy(path, self.folder)
        for path in self.made.glob("*.key"):
            Path(shutil.copy(path, self.folder)).chmod(0o644)
        self.folder.chmod(0o755)
        (self.folder / "second.key").chmod(0o600)
        return self.folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder)


@pytest.mark.parametrize("name, text", [("expired", "has expired"), ("future", "is not valid yet")])
def test_warnings(made: Path, tmp_path: Path, name: str, text: str) -> None:
    folder = prepared(made, tmp_path)
    shutil.copy(made / f"{name}.pem", folder / "first.pem")
    shutil.copy(made / f"{name}.key", folder / "first.key")
    process = subprocess.Popen([PROGRAMS / "tls_server", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    port = int(process.stdout.readline())
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as raw, trusting().wrap_socket(raw) as client:
        assert client.version() == "TLSv1.3"
    _, errors = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, errors) == (0, f"the certificate in {folder}/first.pem {text}\n")


def test_reload_under_load(start: Start, made: Path) -> None:
    """No request fails, on new and on open connections."""
    server = start()
    until = time.monotonic() + 5
    kinds = set()

    def ask(number: int) -> int:
        context, count = trusting(VERSIONS[number % 2]), 0
        while time.monotonic() < until:
            with server.secure(context) as connection:
                kinds.add(names(connection, made))
                for _ in range(1 if number < 4 else 50):
                    assert connection.send(request("GET", "/connection")).answer().status == 200
                    count += 1
        return count

    with ThreadPoolExecutor(8) as clients:
        counts = clients.map(ask, range(8))
        reloads = 0
        while time.monotonic() < until:
            name = ("renewed", "first")[reloads % 2]
            shutil.copy(made / f"{name}.pem", server.folder / "first.pem")
            shutil.copy(made / f"{name}.key", server.folder / "first.key")
            assert server.command("reload") == "reloaded"
            reloads += 1
            time.sleep(0.02)
        assert min(counts) > 5
    assert kinds == {"first", "renewed"} and reloads > 20
    assert server.handshakes()[2] == 0
    server.finish()


# Invalid and slow clients


def read_all(client: socket.socket) -> bytes:
    received = b""
    try:
        while data := client.recv(65_536):
            received += data
    except ConnectionResetError:
        received += b"RESET"
    return received


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT"])
def test_plain_requests(server: Secured, method: str) -> None:
    """A client that forgot to encrypt gets 400 in plain text."""
    with Connection(server.addresses[0]) as connection:
        answer = connection.send(request(method, "/")).answer(method)
        assert answer.status == 400 and answer.closes
        connection.must_end()
    server.must_serve()


def test_garbage(server: Secured) -> None:
    """The client gets an alert, or the end of the connection; the server serves others."""
    chance = random.Random(7)
    hello = client_hello()
    for number in range(300):
        if number % 3 == 0:
            data = chance.randbytes(chance.randrange(1, 3_000))
        else:
            changed = bytearray(hello)
            for _ in range(chance.randrange(1, 8)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            data = bytes(changed)
        with socket.create_connection(server.addresses[0], TIMEOUT_S) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            received = read_all(client)
            assert not received.startswith(b"HTTP") and len(received) < 10_000, (data, received)
            assert b"RESET" not in received, (data, received)
    server.must_serve()


def client_hello(**options: object) -> bytes:
    """Returns the first message of a client."""
    outgoing = ssl.MemoryBIO()
    connection = trusting(**options).wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="first.example")
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


def test_alert_after_garbage(server: Secured) -> None:
    """The server closes the connection without losing the alert, although it has not read everything (6)."""
    for _ in range(50):
        with socket.create_connection(server.addresses[0], TIMEOUT_S) as client:
            client.sendall(b"\x16\x03\x01\x00\x05hello" + b"x" * 50_000)
            assert read_all(client)[:1] == b"\x15"


def test_handshake_in_single_bytes(server: Secured) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting().wrap_bio(incoming, outgoing, server_hostname="first.example")
    with socket.create_connection(server.addresses[0], TIMEOUT_S) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def exchange(step: Callable[[], object]) -> object:
            while True:
                try:
                    result = step()
                    wants_more = False
                except ssl.SSLWantReadError:
                    wants_more = True
                for byte in outgoing.read():
                    client.sendall(bytes([byte]))
                if not wants_more:
                    return result
                incoming.write(client.recv(1))

        exchange(tls.do_handshake)
        for _ in range(2):
            tls.write(request("GET", "/connection"))
            received = b""
            while not received.endswith(b"https"):
                received += exchange(lambda: tls.read(1))
            assert received.startswith(b"HTTP/1.1 200 ")


def test_slow_handshakes(start: Start) -> None:
    """A handshake has the time limit of a header, which bytes do not extend. Others are served in the meantime."""
    server = start("header=1", "idle=60")
    hello = client_hello()
    clients = [socket.create_connection(server.addresses[0], TIMEOUT_S) for _ in range(100)]
    began = time.monotonic()
    for number, client in enumerate(clients):
        client.sendall(hello[:number])
    done = False
    for position in range(100, len(hello)):
        try:
            for client in clients[::10]:
                client.sendall(hello[position:position + 1])
        except OSError:
            done = True
            break
        server.must_serve()
        time.sleep(0.02)
    assert done, "the server has waited for a slow client"
    assert 0.9 < time.monotonic() - began < 20
    for client in clients:
        assert read_all(client) in (b"", b"RESET")
        client.close()
    server.must_serve()
    server.finish()


def test_full_server_closes_slow_handshakes(start: Start) -> None:
    """Clients that do not complete their handshakes do not keep others out."""
    server = start("connections=40")
    hello = client_hello()
    clients = [socket.create_connection(server.addresses[0], TIMEOUT_S) for _ in range(60)]
    for client in clients:
        client.sendall(hello[:50])
    began = time.monotonic()
    for _ in range(10):
        server.must_serve()
    assert time.monotonic() - began < 10
    for client in clients:
        client.close()
    server.finish()


def test_disconnects(start: Start) -> None:
    """Clients disconnect and reset at any point of handshakes and requests."""
    server = start()
    server.must_serve()
    before = server.open_files
    chance = random.Random(5)
    hello = client_hello()

    def disconnect(number: int) -> None:
        with Connection(server.addresses[0]) as connection:
            if number % 2 == 0:
                connection.send(hello[:chance.randrange(len(hello) + 1)])
                if number % 4 == 0:
                    connection.reset()
            else:
                connection.socket = trusting(VERSIONS[number // 2 % 2]).wrap_socket(connection.socket)
                connection.send(request("GET", "/large" if number % 3 else "/stream?size=10000000")[:chance.randrange(80)])
                if number % 5 == 0:
                    connection.reset()

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(disconnect, range(600)))
    server.must_serve()
    limit = time.monotonic() + TIMEOUT_S
    while server.open_files > before + 2:
        assert time.monotonic() < limit, f"{server.open_files} files are open, before {before}"
        time.sleep(0.1)
    server.finish()


def test_renegotiation_is_rejected(server: Secured) -> None:
    """The server rejects the client's attempt with an alert (RFC 5746, 4.4; RFC 5246, 7.2.2)."""
    process = subprocess.Popen(["openssl", "s_client", "-tls1_2", "-connect", f"127.0.0.1:{server.addresses[0][1]}"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(0.5)
    process.stdin.write("R\n")
    process.stdin.flush()
    output, _ = process.communicate(timeout=TIMEOUT_S)
    assert "RENEGOTIATING" in output and "no renegotiation" in output, output
    server.must_serve()


def key_updates(server: Secured, count: int, letter: str) -> str:
    """Sends messages that update keys; the letter K requests an update from the server. Returns the output, with the
    response to a request at the end if the server has kept the connection."""
    process = subprocess.Popen(["openssl", "s_client", "-tls1_3", "-crlf", "-connect", f"127.0.0.1:{server.addresses[0][1]}"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    time.sleep(0.5)
    try:
        for _ in range(count):
            process.stdin.write(f"{letter}\n".encode())
            process.stdin.flush()
            time.sleep(0.02)
        process.stdin.write(b"GET /connection HTTP/1.1\nHost: h\nConnection: close\n\n")
        process.stdin.flush()
        time.sleep(0.5)
    except BrokenPipeError:
        pass
    output = process.communicate(timeout=TIMEOUT_S)[0].decode(errors="replace")
    assert "KEYUPDATE" in output
    return output


@pytest.mark.parametrize("letter", ["k", "K"])
def test_key_updates(server: Secured, letter: str) -> None:
    """A client may update its keys (4.6.3), but not endlessly without sending content."""
    assert "secure 127.0.0.1" in key_updates(server, 10, letter)
    assert "secure 127.0.0.1" not in key_updates(server, 60, letter)
    server.must_serve()


# Ends of connections


def test_close_notify(server: Secured) -> None:
    """The server ends a connection with close_notify (6.1), and keeps reading until the client has closed."""
    for version in VERSIONS:
        for path in ("/connection", "/large", "/stream?size=100000"):
            with server.secure(trusting(version)) as connection:
                answer = connection.send(request("GET", path, "Connection: close")).answer()
                assert answer.status == 200
                connection.must_end()


def test_close_notify_marks_the_end_of_http_1_0(server: Secured) -> None:
    with server.secure() as connection:
        everything = connection.send(b"GET /stream?size=1000000 HTTP/1.0\r\n\r\n").everything()
        assert len(everything.partition(b"\r\n\r\n")[2]) == 1_000_000


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_no_close_notify_after_a_failure(server: Secured, version: str) -> None:
    """The client notices that the response is incomplete."""
    with server.secure() as connection:
        connection.send(f"GET /stream?size=1000000&raise=300000 HTTP/{version}\r\nHost: h\r\n\r\n".encode())
        with pytest.raises((ssl.SSLEOFError, ConnectionError, NoAnswer, AssertionError)):
            connection.everything()


def test_close_notify_for_idle_clients(start: Start) -> None:
    server = start("idle=0.5")
    with server.secure() as connection:
        connection.must_end()
    with server.secure() as connection:
        assert connection.send(request("GET", "/connection")).answer().status == 200
        connection.must_end()
    server.finish()


def test_half_closed_connections(server: Secured) -> None:
    """A client that has sent close_notify, or an end of file, after its request still gets the response (6.1)."""
    for sends_notify in (True, False):
        for path, size in (("/connection", 32), ("/large", 2**20)):
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = trusting().wrap_bio(incoming, outgoing, server_hostname="first.example")
            with socket.create_connection(server.addresses[0], TIMEOUT_S) as client:
                while True:
                    try:
                        tls.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        client.sendall(outgoing.read())
                        incoming.write(client.recv(65_536))
                tls.write(request("GET", path))
                if sends_notify:
                    with pytest.raises(ssl.SSLWantReadError):
                        tls.unwrap()
                client.sendall(outgoing.read())
                client.shutdown(socket.SHUT_WR)
                received = b""
                while data := client.recv(65_536):
                    incoming.write(data)
                    try:
                        while piece := tls.read(65_536):
                            received += piece
                    except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
                        pass
                head, _, body = received.partition(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 ") and len(body) == size, (path, sends_notify, received[:200])


# Content


@pytest.mark.parametrize("version", VERSIONS)
def test_files(server: Secured, version: ssl.TLSVersion) -> None:
    with server.secure(trusting(version)) as connection:
        for name, content in FILE.items():
            answer = connection.send(request("GET", f"/files/{name}")).answer()
            assert answer.status == 200 and answer.body == content
        answer = connection.send(request("GET", "/files/8000000.bin", "Range: bytes=16000-5000001")).answer()
        assert answer.status == 206 and answer.body == FILE["8000000.bin"][16_000:5_000_002]
        assert connection.send(request("HEAD", "/files/40000.bin")).answer("HEAD").status == 200


def test_small_files_are_sent_in_one_record(server: Secured) -> None:
    """Header and content share a record, so that they need one packet."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting(ssl.TLSVersion.TLSv1_2).wrap_bio(incoming, outgoing, server_hostname="first.example")
    with socket.create_connection(server.addresses[0], TIMEOUT_S) as client:
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                client.sendall(outgoing.read())
                incoming.write(client.recv(65_536))
        tls.write(request("GET", "/files/1.bin"))
        client.sendall(outgoing.read())
        data = client.recv(65_536)
        kind, _, length = struct.unpack(">BHH", data[:5])
        assert kind == 23 and len(data) == 5 + length
        incoming.write(data)
        assert tls.read(65_536).endswith(b"\r\n\r\n" + FILE["1.bin"])


@pytest.mark.parametrize("path, size", [("/large", 2**20), ("/stream?size=4000000", 4_000_000),
                                        ("/stream?size=3000000&counted=3000000&piece=1000", 3_000_000),
                                        ("/files/8000000.bin", 8_000_000)])
def test_large_responses_for_slow_clients(server: Secured, path: str, size: int) -> None:
    """The client reads in bursts, so that the server must wait in the middle of a record."""
    for _ in range(2):
        connection = Connection(server.addresses[0])
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 100_000)
        connection.socket = trusting().wrap_socket(connection.socket, suppress_ragged_eofs=False)
        with connection:
            connection.send(request("GET", path) + request("GET", "/connection"))
            time.sleep(0.3)
            answer = connection.answer()
            assert answer.status == 200 and len(answer.body) == size
            if path.startswith("/files"):
                assert answer.body == FILE["8000000.bin"]
            assert connection.answer().body.startswith(b"secure")


def test_clients_that_do_not_read(start: Start) -> None:
    """The time limit for sending also applies to encrypted responses; slow but steady clients are kept."""
    server = start("sending=3")
    for path in ("/files/8000000.bin", "/stream?size=20000000"):
        connection = Connection(server.addresses[0])
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 40_000)
        connection.socket = trusting().wrap_socket(connection.socket, suppress_ragged_eofs=False)
        with connection:
            connection.send(request("GET", path))
            time.sleep(8)
            with pytest.raises((OSError, NoAnswer, AssertionError)):
                connection.answer()
    connection = Connection(server.addresses[0])
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 40_000)
    connection.socket = trusting().wrap_socket(connection.socket, suppress_ragged_eofs=False)
    with connection:
        connection.send(request("GET", "/files/8000000.bin", "Connection: close"))
        until, received = time.monotonic() + 8, 0
        while time.monotonic() < until:
            received += len(connection.socket.recv(2_000))
            time.sleep(0.05)
        while data := connection.socket.recv(65_536):
            received += len(data)
        assert received > 8_000_000
    server.finish()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [1, 16_384, 16_385, 10_000_000])
def test_uploads(server: Secured, version: ssl.TLSVersion, size: int) -> None:
    content = random.Random(size).randbytes(size)
    with server.secure(trusting(version)) as connection:
        for _ in range(2):
            answer = connection.send(request("POST", "/upload/count", body=content)).answer("POST")
            assert answer.body.decode().split() == [str(size), str(zlib.crc32(content))]


def test_upload_with_expectation(server: Secured) -> None:
    with server.secure() as connection:
        connection.send(request("POST", "/upload/count", "Expect: 100-continue", "Content-Length: 100000"))
        assert connection.interim() == 100
        assert connection.send(b"x" * 100_000).answer("POST").body.startswith(b"100000 ")


def test_gzip(server: Secured) -> None:
    with server.secure() as connection:
        answer = connection.send(request("GET", "/text?size=5000", "Accept-Encoding: gzip")).answer()
        body = gzip.decompress(answer.body) if answer.get("Content-Encoding") else answer.body
        assert len(body) == 5_000


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("sizes", ["one record", "a record for each request", "small records"])
def test_pipelining(server: Secured, version: ssl.TLSVersion, sizes: str) -> None:
    """The server takes multiple records from the socket at once, so there is no event for the later ones."""
    one = request("GET", "/connection")
    count = 200
    with server.secure(trusting(version)) as connection:
        incoming = one * count
        step = {"one record": len(incoming), "a record for each request": len(one), "small records": 7}[sizes]
        for first in range(0, len(incoming), step):
            connection.send(incoming[first:first + step])
        for _ in range(count):
            assert connection.answer().body == b"secure 127.0.0.1 127.0.0.1 https"
        assert connection.is_open()


def test_records_in_one_segment(server: Secured) -> None:
    """Many records arrive in one piece, and nothing follows."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting().wrap_bio(incoming, outgoing, server_hostname="first.example")
    with socket.create_connection(server.addresses[0], TIMEOUT_S) as client:
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                client.sendall(outgoing.read())
                incoming.write(client.recv(65_536))
        for _ in range(100):
            tls.write(request("GET", "/connection"))
        client.sendall(outgoing.read())
        received = b""
        while received.count(b"HTTP/1.1 200 ") < 100 or not received.endswith(b"https"):
            incoming.write(client.recv(65_536))
            try:
                while True:
                    received += tls.read(65_536)
            except ssl.SSLWantReadError:
                pass


def test_request_with_the_end_of_the_handshake(server: Secured) -> None:
    """The client's last message and its first request arrive in one piece, and nothing follows."""
    for version in VERSIONS:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = trusting(version).wrap_bio(incoming, outgoing, server_hostname="first.example")
        with socket.create_connection(server.addresses[0], TIMEOUT_S) as client:
            while True:
                try:
                    tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    client.sendall(outgoing.read())
                    incoming.write(client.recv(65_536))
            tls.write(request("GET", "/connection"))
            client.sendall(outgoing.read())
            received = b""
            while not received.endswith(b"https"):
                incoming.write(client.recv(65_536))
                try:
                    received += tls.read(65_536)
                except ssl.SSLWantReadError:
                    pass


def test_many_clients(server: Secured) -> None:
    def ask(number: int) -> None:
        with server.secure(trusting(VERSIONS[number % 2])) as connection:
            for _ in range(20):
                size = 1 + number * 331 % 50_000
                answer = connection.send(request("GET", f"/stream?size={size}")).answer()
                assert answer.status == 503 or len(answer.body) == size
                assert connection.send(request("GET", "/large")).answer().body == b"L" * 2**20

    with ThreadPoolExecutor(16) as clients:
        list(clients.map(ask, range(48)))
    server.must_serve()


def test_memory_of_idle_connections(start: Start) -> None:
    """An idle connection has no buffers."""
    server = start()
    clients = [server.secure() for _ in range(50)]
    before = server.resident_bytes
    for _ in range(400):
        clients.append(server.secure())
        clients[-1].send(request("GET", "/connection"))
        assert clients[-1].answer().status == 200
    assert (server.resident_bytes - before) / 400 < 25_000
    for client in clients:
        client.socket.close()
    server.finish()


# Stopping


def test_stop_during_handshakes(start: Start) -> None:
    server = start()
    hello = client_hello()
    clients = [socket.create_connection(server.addresses[0], TIMEOUT_S) for _ in range(30)]
    for number, client in enumerate(clients):
        client.sendall(hello[:number * 20])
    idle = [server.secure() for _ in range(5)]
    time.sleep(0.3)
    began = time.monotonic()
    server.process.stdin.close()
    for connection in idle:
        connection.must_end()
    for client in clients:
        read_all(client)
        client.close()
    assert server.process.wait(TIMEOUT_S) == 0
    assert time.monotonic() - began < 6


def test_stop_completes_requests(start: Start) -> None:
    """Requests that were sent before the stop are answered, and connections end with close_notify."""
    server = start()
    connections = [server.secure(trusting(VERSIONS[number % 2])) for number in range(20)]
    os.kill(server.process.pid, signal.SIGSTOP)
    for connection in connections:
        connection.send(request("GET", "/large"))
    server.process.stdin.close()
    os.kill(server.process.pid, signal.SIGCONT)

    def read(connection: Connection) -> None:
        assert connection.answer().body == b"L" * 2**20
        connection.must_end()

    with ThreadPoolExecutor(20) as clients:
        list(clients.map(read, connections))
    assert server.process.wait(TIMEOUT_S) == 0


def test_stop_completes_handshakes(start: Start) -> None:
    """A client that began to connect before the stop is served."""
    server = start()
    os.kill(server.process.pid, signal.SIGSTOP)
    results: list[bytes] = []

    def ask() -> None:
        with server.secure() as connection:
            results.append(connection.send(request("GET", "/connection")).answer().body)

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    server.process.stdin.close()
    os.kill(server.process.pid, signal.SIGCONT)
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert results == [b"secure 127.0.0.1 127.0.0.1 https"] * 5
    assert server.process.wait(TIMEOUT_S) == 0


# Client certificates


def with_certificate(folder: Path, name: str, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = trusting(version)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


def is_rejected(server: Secured, context: ssl.SSLContext) -> bool:
    """Returns True if the server rejects the client. In TLS 1.3, the client notices it when it reads."""
    try:
        server.ask("/tls", context)
    except (ssl.SSLError, ConnectionError, NoAnswer):
        return True
    return False


@pytest.mark.parametrize("version", VERSIONS)
def test_client_certificates(start: Start, made: Path, version: ssl.TLSVersion) -> None:
    name = "TLSv1.2" if version == ssl.TLSVersion.TLSv1_2 else "TLSv1.3"
    for policy in ("ignored", "optional", "required"):
        server = start(f"clients={policy}")
        assert is_rejected(server, trusting(version)) == (policy == "required")
        if policy != "required":
            assert server.ask("/tls", trusting(version)) == f"{name} "
        for _ in range(2):
            known = "" if policy == "ignored" else "CN=ada,O=Shop"
            assert server.ask("/tls", with_certificate(made, "ada", version)) == f"{name} {known}"
        assert is_rejected(server, with_certificate(made, "eve", version)) == (policy != "ignored")
        server.finish()


@pytest.mark.parametrize("version", VERSIONS)
def test_client_certificates_in_sessions(start: Start, made: Path, version: ssl.TLSVersion) -> None:
    """A resumed session has the subject, until the authorities change."""
    server = start("clients=required")
    context = with_certificate(made, "ada", version)
    session = new_session(server, context)
    with server.secure(context, session=session) as connection:
        assert connection.send(request("GET", "/tls")).answer().body.endswith(b" CN=ada,O=Shop")
        assert connection.socket.session_reused
    assert server.command("reload") == "reloaded"
    assert resumes(server, context, session)
    shutil.copy(made / "others.pem", server.folder / "clients.pem")
    assert server.command("reload") == "reloaded"
    with pytest.raises((ssl.SSLError, ConnectionError, NoAnswer)):
        resumes(server, context, session)
    with server.secure(with_certificate(made, "eve", version)) as connection:
        assert connection.send(request("GET", "/tls")).answer().body.endswith(b" CN=ada,O=Shop")
    server.finish()


def test_client_authorities_are_announced(start: Start) -> None:
    server = start("clients=optional")
    output = s_client(server, "-tls1_2")
    assert "Acceptable client certificate CA names\nCN = clients" in output, output
    server.finish()
