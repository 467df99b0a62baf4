# SPDX-License-Identifier: Apache-2.0
"""The command-line options of `generate`: everything that goes into a configuration is validated first."""

import argparse
import os
import pwd
import re
import ssl
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

EXAMPLE = """\
Example:
  experiments/reverse-proxy/generate shop.war --output /srv/shop --name shop.example.org --redirect 80
  runuser -u tomcat -- env CATALINA_BASE=/srv/shop/tomcat /usr/share/tomcat10/bin/catalina.sh run
  apache2 -f /srv/shop/apache/httpd.conf

DIR gets app/ (the exploded application), apache/ (httpd.conf, workers.properties, logs, and without --certificate
one that the machine makes for itself) and tomcat/ (Tomcat's base: conf/server.xml with the AJP connector on loopback
and its secret, conf/web.xml). A configuration that fails its verification is deleted, unless --no-verify is given."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="generate", epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Writes the whole configuration of Apache as a reverse proxy for a Java application, and verifies it.")
    add = made.add_argument
    add("archive", type=Path, metavar="APP.war|APP.ear", help="the application")
    add("--output", type=path, required=True, metavar="DIR", help="the output directory, which must be new or empty")
    add("--name", type=host, default="localhost", help="the site's name [default: localhost]")
    add("--listen", type=listen, default="443", metavar="[ADDRESS:]PORT", help="the address that Apache listens on [default: 443]")
    add("--redirect", type=listen, metavar="[ADDRESS:]PORT",
        help="the address without TLS from which requests are redirected to the site; usually 80 [default: none]")
    add("--ajp", type=port, default=8009, metavar="PORT", help="the connector's port [default: 8009]")
    add("--certificate", type=path, metavar="FILE", help="the certificate in PEM, with its chain")
    add("--key", type=path, metavar="FILE", help="the certificate's key, in PEM")
    add("--hsts", action="store_true", help="make browsers use only TLS for a year; needs --certificate")
    add("--tomcat-user", type=account, metavar="USER",
        help="Tomcat's user if root starts it [default: tomcat, if it exists]")
    add("--context", metavar="/PATH", help="the path of a WAR's application on the site [default: / for ROOT.war, otherwise its name]")
    add("--no-verify", action="store_true", help="skip the verification")
    return made


def arguments() -> argparse.Namespace:
    """Returns the validated options."""
    made = parser()
    told = made.parse_args()
    if (told.certificate is None) != (told.key is None):
        made.error("--certificate and --key must be used together")
    if told.hsts and told.certificate is None:
        made.error("--hsts needs --certificate: browsers would reject a self-signed certificate without an override")
    ports = [str(told.ajp), *(address.rsplit(":", 1)[-1] for address in (told.listen, told.redirect) if address)]
    if len(set(ports)) < len(ports):
        made.error("--listen, --redirect and --ajp must have different ports")
    if told.output.exists() and (not told.output.is_dir() or any(told.output.iterdir())):
        made.error(f"{told.output} is not empty: choose a new directory")
    if told.certificate is not None and (said := pair(told.certificate, told.key)):
        made.error(said)
    if told.tomcat_user is None and os.geteuid() == 0 and is_account("tomcat"):
        told.tomcat_user = "tomcat"
    return told


def path(text: str) -> Path:
    """Parses a path that needs no quoting in the configurations of Apache and Tomcat."""
    whole = Path(text).resolve()
    if not str(whole).isprintable() or set(str(whole)) & set("\"'`\\$%<>&()[]{}*?|"):
        raise argparse.ArgumentTypeError(f"{str(whole)!r} contains a character with a special meaning in a configuration")
    return whole


def host(text: str) -> str:
    """Parses a host name as in RFC 1123, 2.1 (letters, digits and hyphens, at most 63 per label and 253 in
    total), or an IPv4 address."""
    label = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    if not re.fullmatch(rf"{label}(?:\.{label})*", text) or len(text) > 253:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid host name (letters, digits, `-` and `.`; others encoded as xn--…)")
    return text


def port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 1 to 65535")
    return int(text)


def listen(text: str) -> str:
    """Parses PORT, ADDRESS:PORT, or [ADDRESS]:PORT for IPv6."""
    address, colon, number = text.rpartition(":")
    canonical = str(port(number))
    if not colon:
        return canonical
    try:
        if address.startswith("[") and address.endswith("]"):
            return f"[{IPv6Address(address[1:-1])}]:{canonical}"
        return f"{IPv4Address(address)}:{canonical}"
    except ValueError:
        raise argparse.ArgumentTypeError(f"{address!r} is not an IP address (IPv6 requires brackets)") from None


def account(text: str) -> str:
    if not is_account(text):
        raise argparse.ArgumentTypeError(f"there is no user {text!r}")
    if os.geteuid() != 0:
        raise argparse.ArgumentTypeError("only root can change the owner of files: run `generate` as root")
    return text


def is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):
        return False
    return True


def pair(certificate: Path, key: Path) -> str:
    """Returns the error in a certificate and its key, or an empty string."""
    def locked() -> str:
        raise ValueError(f"{key} has a passphrase, which would have to be typed whenever Apache starts: use a key without a passphrase")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, locked)
    except ValueError as error:
        return str(error)
    except ssl.SSLError as error:
        return f"{certificate} and {key} are not a certificate and its key in PEM: {error.reason or error}"
    except OSError as error:
        return f"{certificate}, {key}: {error.strerror}"
    return ""
