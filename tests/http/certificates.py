# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests, made with the openssl command."""

import subprocess
from pathlib import Path

CA_CONFIGURATION = """
[ca]
default_ca = own
[own]
database = {folder}/index.txt
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
organizationName = optional
"""


def openssl(*arguments: str) -> None:
    process = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    assert process.returncode == 0, f"openssl {' '.join(arguments)}\n{process.stderr}"


def key_options(kind: str) -> list[str]:
    return ["-newkey", kind] if kind.startswith("rsa:") else ["-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{kind}"]


def make_own(folder: Path, name: str, *hosts: str, key: str = "P-256") -> None:
    """Makes a self-signed certificate NAME.pem and its key NAME.key."""
    names = ",".join(f"DNS:{host}" for host in hosts)
    openssl("req", "-x509", *key_options(key), "-nodes", "-keyout", str(folder / f"{name}.key"),
            "-out", str(folder / f"{name}.pem"), "-days", "30", "-subj", f"/CN={name}",
            *(["-addext", f"subjectAltName={names}"] if hosts else []))


def make_request(folder: Path, name: str, subject: str, *hosts: str, key: str = "P-256") -> None:
    names = ",".join(f"DNS:{host}" for host in hosts)
    openssl("req", *key_options(key), "-nodes", "-keyout", str(folder / f"{name}.key"),
            "-out", str(folder / f"{name}.csr"), "-subj", subject,
            *(["-addext", f"subjectAltName={names}"] if hosts else []))


def make_signed(folder: Path, name: str, authority: str, subject: str, *hosts: str, key: str = "P-256") -> None:
    """Makes a certificate that the authority's key has signed."""
    make_request(folder, name, subject, *hosts, key=key)
    openssl("x509", "-req", "-in", str(folder / f"{name}.csr"), "-CA", str(folder / f"{authority}.pem"),
            "-CAkey", str(folder / f"{authority}.key"), "-CAcreateserial", "-out", str(folder / f"{name}.pem"),
            "-days", "30", "-copy_extensions", "copy")


def make_dated(folder: Path, name: str, first: str, last: str, *hosts: str) -> None:
    """Makes a self-signed certificate with the period of validity from `first` to `last`, such as 20200131000000Z."""
    own = folder / f"{name}-ca"
    own.mkdir()
    (own / "index.txt").write_text("")
    (own / "serial").write_text("01\n")
    (own / "ca.cnf").write_text(CA_CONFIGURATION.format(folder=own))
    make_request(folder, name, f"/CN={name}", *hosts)
    openssl("ca", "-batch", "-notext", "-selfsign", "-config", str(own / "ca.cnf"), "-in", str(folder / f"{name}.csr"),
            "-keyfile", str(folder / f"{name}.key"), "-startdate", first, "-enddate", last,
            "-out", str(folder / f"{name}.pem"))
