# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Tests the SQL layer with a MariaDB server that has a certificate: python3 mariadb_tls.py PROGRAM

Creates certificates with openssl, and starts mariadbd. PROGRAM is the test program tls_client, which connects to this server."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WITHIN_S = 300
RESPONSE_S, SHORT_RESPONSE_S = 120, 10
"""Response timeouts. Only the statement that sleeps exceeds its timeout."""
PATH = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
ADDRESS, OTHER_ADDRESS = "127.0.0.1", "127.0.0.2"
"""The server's addresses. ADDRESS is in the server's certificate, OTHER_ADDRESS is not."""
CIPHER = "SELECT variable_value <> '' FROM information_schema.session_status WHERE variable_name = 'Ssl_cipher'"
USERS = """CREATE USER anyone@'%' IDENTIFIED BY 'secret';
CREATE USER encrypted@'%' IDENTIFIED BY 'secret' REQUIRE SSL;
"""


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True, env={**os.environ, "PATH": PATH})


def authority(folder, name):
    """Creates a CA. Returns the path of its certificate. The path of its key differs only in the extension, .key."""
    file = folder / f"{name}.pem"
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
        "-keyout", file.with_suffix(".key"), "-out", file)
    return file


def certified(folder, by, address):
    request, file = folder / "server.csr", folder / "server.pem"
    (folder / "names").write_text(f"subjectAltName=IP:{address}\n")
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server", "-keyout", file.with_suffix(".key"),
        "-out", request)
    run("openssl", "x509", "-req", "-in", request, "-CA", by, "-CAkey", by.with_suffix(".key"), "-CAcreateserial",
        "-days", "2", "-extfile", folder / "names", "-out", file)
    return file


def started(folder, certificate, ending):
    """Starts the server, which runs until the ExitStack `ending` is closed. Returns the server's port."""
    data, users = folder / "data", folder / "users.sql"
    users.write_text(USERS)
    owner = ["--user=root"] if os.geteuid() == 0 else []
    run("mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", *owner)
    until = time.monotonic() + WITHIN_S
    while True:
        with socket.create_server((ADDRESS, 0)) as free:
            port = free.getsockname()[1]
        log = folder / f"log-{port}"
        server = ending.enter_context(subprocess.Popen(
            ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={folder}/socket", f"--pid-file={folder}/pid",
             "--skip-name-resolve", f"--bind-address={ADDRESS},{OTHER_ADDRESS}", f"--port={port}", f"--init-file={users}",
             f"--ssl-cert={certificate}", f"--ssl-key={certificate.with_suffix('.key')}", *owner],
            stderr=log.open("w"), env={**os.environ, "PATH": PATH}))
        ending.callback(server.terminate)
        while server.poll() is None and time.monotonic() < until:
            if f"port: {port}" in log.read_text():
                return port
            time.sleep(0.1)
        # Another process may have got the port in the meantime.
        assert "Address already in use" in log.read_text() and time.monotonic() < until, log.read_text()


def main():
    program = sys.argv[1]
    if not (shutil.which("mariadbd", path=PATH) and shutil.which("openssl")):
        print("MariaDB over TLS: left out, as mariadbd or openssl is missing")
        return
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ending:
        folder = Path(name)
        trusted, stranger = authority(folder, "trusted"), authority(folder, "stranger")
        port = started(folder, certified(folder, trusted, ADDRESS), ending)

        def outcome_of(mode, by="", *, address=ADDRESS, user="anyone", password="secret", statement=CIPHER,
                       response_s=RESPONSE_S):
            target = f"mariadb://{user}:{password}@{address}:{port}/"
            command = [program, target, mode, str(by), statement, str(response_s)]
            return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=WITHIN_S).stdout.strip()

        trials = [
            (outcome_of("authenticated", trusted), "1"),
            (outcome_of("encrypted"), "1"),
            (outcome_of("unencrypted"), "0"),
            (outcome_of("authenticated", trusted, user="encrypted"), "1"),
            (outcome_of("authenticated", stranger), "08001 TLS/SSL error: "),
            (outcome_of("authenticated"), "08001 TLS/SSL error: "),
            (outcome_of("authenticated", folder / "none"), "08001 TLS/SSL error: "),
            (outcome_of("authenticated", trusted, address=OTHER_ADDRESS), "08001 TLS/SSL error: "),
            (outcome_of("authenticated", trusted, password="wrong"), "28000 Access denied for user 'anyone'"),
            (outcome_of("authenticated", trusted, statement="SELECT sleep(300)", response_s=SHORT_RESPONSE_S),
             "08006 "),
            (outcome_of("authenticated", trusted, statement="KILL CONNECTION_ID()"), "08006 "),
        ]
        without = outcome_of("unencrypted", user="encrypted")
    for outcome, expected in trials:
        assert outcome.startswith(expected), f"{outcome}: not {expected}"
    assert without.startswith("28000 ") and without.endswith(" (without TLS, which the server may require)"), without
    print(f"MariaDB over TLS: {len(trials) + 1} connections as expected")


main()
