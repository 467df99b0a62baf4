# SPDX-License-Identifier: Apache-2.0
"""Requests that leave a server no choice: those that are well-formed according to RFC 9110, 9112 and 3986, and whose
response the experiment defines. Derived from the RFCs, without an HTTP parser."""

import re

MAX_BYTES, MAX_FIELDS = 8000, 60
"""The limits of a header: less than the limits of all servers."""

REQUEST_LINE = re.compile(
    rb"(?P<method>GET|HEAD|POST) (?P<path>/[A-Za-z0-9._~!$&'()*+,=:@/-]*)(\?[A-Za-z0-9._~!$&'()*,=:@/?-]*)? HTTP/1\.1")
FIELD = re.compile(rb"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?P<value>([!-~\x80-\xff]([ \t!-~\x80-\xff]*[!-~\x80-\xff])?)?)[ \t]*")
HOST = re.compile(rb"[a-z][a-z0-9-]{0,60}(:[0-9]{1,4})?")
LENGTH = re.compile(rb"[0-9]{1,5}")
CHUNKS = re.compile(rb"(?:[1-9a-fA-F][0-9a-fA-F]{0,3}\r\n)")

SIGNIFICANT = {b"range", b"expect", b"connection", b"accept", b"accept-encoding", b"upgrade", b"te", b"trailer", b"keep-alive",
               b"proxy-connection", b"content-encoding", b"http2-settings"}
"""Fields, in addition to those that begin with If-, whose value may change the response."""

CLEANED = re.compile(rb"//|/\.|^/files$|^/files/folder|/index\.html$|[^/]{200}")
"""Paths that servers may redirect, and names that they may hide or that no file can have."""


def is_well_formed(sent: bytes, known_fields: set[bytes], known_bodies: set[bytes]) -> bool:
    """Returns True if a request is well-formed. `known_fields` contains lines of significant fields, and `known_bodies`
    contents, for which the response is known."""
    head, end, body = sent.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    request_line, parsed = REQUEST_LINE.fullmatch(line), [FIELD.fullmatch(field) for field in fields]
    if not end or len(head) > MAX_BYTES or len(fields) > MAX_FIELDS or request_line is None or None in parsed:
        return False
    if CLEANED.search(request_line["path"]):
        return False
    values: dict[bytes, list[bytes]] = {}
    for field, line in zip(parsed, fields):
        name = field["name"].lower()
        values.setdefault(name, []).append(field["value"])
        if (name in SIGNIFICANT or name.startswith(b"if-")) and (line not in known_fields or len(values[name]) > 1):
            return False
    hosts = values.get(b"host", [])
    if len(hosts) != 1 or not HOST.fullmatch(hosts[0]):
        return False
    if request_line["method"] == b"POST":
        return content_of(body, values) in known_bodies
    # Unlike RFC 9110 14.2, Go accepts ranges of HEAD, and none of an empty file.
    if b"range" in values and (request_line["method"] == b"HEAD" or b"empty" in request_line["path"]):
        return False
    return not body and values.keys().isdisjoint({b"content-length", b"transfer-encoding"})


def content_of(body: bytes, values: dict[bytes, list[bytes]]) -> bytes | None:
    """Returns the content of the request, which `body` ends, or None if its framing is ambiguous or absent."""
    lengths, codings = values.get(b"content-length", []), values.get(b"transfer-encoding", [])
    if len(lengths) == 1 and not codings and LENGTH.fullmatch(lengths[0]) and int(lengths[0]) == len(body):
        return body
    if not lengths and codings == [b"chunked"]:
        return unchunked(body)
    return None


def unchunked(body: bytes) -> bytes | None:
    content = b""
    while size := CHUNKS.match(body):
        length = int(size[0], 16)
        chunk, body = body[size.end():size.end() + length], body[size.end() + length:]
        if len(chunk) < length or not body.startswith(b"\r\n"):
            return None
        content, body = content + chunk, body[2:]
    return content if body == b"0\r\n\r\n" else None
