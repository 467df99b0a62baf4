# SPDX-License-Identifier: Apache-2.0
"""Files: validators, conditions and ranges (RFC 9110 8.8, 13, 14), and no access outside the directory."""

import os
import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

import pytest

from client import Answer, request
from exchange import SECOND
from servers import FILES, SECRET, Server

pytestmark = pytest.mark.files

PATH = "/files/64k.bin"
FILE = FILES["64k.bin"]
SIZE = len(FILE)


@pytest.fixture
def full(server: Server) -> Answer:
    """Returns the response with the whole file, without conditions."""
    answer = server.get(PATH)
    assert answer.status == 200 and answer.body == FILE
    return answer


@pytest.fixture
def etag(full: Answer) -> str:
    return validator(full, "ETag")


@pytest.fixture
def modified(full: Answer) -> datetime:
    return parsedate_to_datetime(validator(full, "Last-Modified"))


def validator(answer: Answer, name: str) -> str:
    if answer.get(name) is None:
        pytest.skip(f"this server does not send {name}")
    return answer.get(name)


def date(moment: datetime) -> str:
    return format_datetime(moment.astimezone(timezone.utc), usegmt=True)


def test_a_file(server: Server, full: Answer, folder: Path) -> None:
    assert full.get("Content-Type") == "application/octet-stream"
    assert full.get("Content-Length") == str(SIZE)
    if server.promises:
        assert re.fullmatch(r'(W/)?"[\x21\x23-\x7e]*"', full.get("ETag"))
        assert full.get("Last-Modified") == date(
            datetime.fromtimestamp(int((folder / "64k.bin").stat().st_mtime), timezone.utc))
        assert full.get("Accept-Ranges") == "bytes"


@pytest.mark.parametrize("path, name", [
    ("empty.bin", "empty.bin"), ("one.bin", "one.bin"), ("a%20name.bin", "a name.bin"), ("%C3%A9.bin", "é.bin"),
    ("100%25.bin", "100%.bin"), ("%6f%6e%65.bin", "one.bin")])
def test_names(server: Server, path: str, name: str) -> None:
    answer = server.get(f"/files/{path}")
    assert answer.status == 200 and answer.body == FILES[name]
    head = server.get(f"/files/{path}", method="HEAD")
    assert head.status == 200 and head.get("Content-Length") in (str(len(FILES[name])), None)


@pytest.mark.parametrize("path", ["none.bin", "", ".", "folder", "folder/", "one.bin/", "one.bin/x", "pipe", "64K.BIN", "one.bin%20",
                                  "one.bin.", "*", "%2A.bin", "one", "a+name.bin", "x" * 300, "x/" * 500])
def test_what_is_no_file(server: Server, path: str) -> None:
    """The server sends nothing of a directory or a special file, and a pipe does not block it."""
    answer = server.get(f"/files/{path}")
    assert answer.status in (400, 403, 404) or not server.promises and answer.status in (301, 302, 307, 308, 414)
    assert b"64k" not in answer.body
    server.must_serve()


WAYS_OUT = [
    "../secret", "/secret", "//secret", "../files-not/secret", "..", "../", "./../secret", "folder/../../secret", "x/../../secret",
    "../files/../secret", "../../../../../../../../..{folder}/secret", "/{folder}/secret", "{folder}/secret", "..//secret",
    "%2e%2e/secret", "%2E%2E/secret", ".%2e/secret", "%2e./secret", "..%2fsecret", "..%2Fsecret", "%2e%2e%2fsecret",
    "%2Fsecret", "%2f..%2fsecret", "folder%2f..%2f..%2fsecret", "..%5csecret", "..\\secret", "%2e%2e%5csecret",
    "%252e%252e/secret", "..%252fsecret", "%252e%252e%252fsecret", "%25252e%25252e%25252fsecret",
    "%c0%ae%c0%ae/secret", "..%c0%afsecret", "%e0%80%ae%e0%80%ae/secret", "%uff0e%uff0e/secret", "%u002e%u002e/secret",
    "%ef%bc%8e%ef%bc%8e/secret", "..%00/secret", "..%00/../secret", "%00../secret", "../secret%00.bin", "..%0d%0a/secret",
    "..;/secret", "..%3b/secret", ".../secret", "....//secret", "....//....//secret", "..%20/secret", "..%09/secret",
    "..\x0b/secret", "-not/secret", "..?/secret", "..#/secret", "../secret?x", "../secret%3fx", "./%2e%2e/secret",
]


@pytest.mark.parametrize("way", WAYS_OUT)
@pytest.mark.parametrize("base", ["/files/", "http://localhost/files/"], ids=["origin", "absolute"])
def test_no_way_out_of_the_folder(server: Server, folder: Path, base: str, way: str) -> None:
    parent = str(folder.parent)
    target = base + way.format(folder=parent.replace("%", "%25").replace(" ", "%20").replace("&", "%26"))
    with server.connect() as connection:
        answer = connection.send(request("GET", target, "Connection: close")).answer()
        assert answer.status in (400, 403, 404) or not server.promises and answer.status in (301, 302, 307, 308)
        assert SECRET not in answer.body
        connection.must_end()


def test_names_that_look_like_a_way_out(server: Server) -> None:
    """A name that begins with one or two dots is a valid name; a server may hide such files."""
    for name in (".hidden", "..two"):
        answer = server.get(f"/files/{name}")
        assert answer.status in (200, 403, 404) and (answer.status != 200 or answer.body == FILES[name])


# -- Conditions --------------------------------------------------------------------------------


def not_modified(answer: Answer, full: Answer) -> bool:
    """RFC 9110 15.4.5: a 304 has all fields of the 200 that a cache needs."""
    assert answer.status in (200, 304)
    if answer.status == 304:
        assert answer.body == b""
        for name in ("ETag", "Cache-Control", "Expires", "Vary", "Content-Location"):
            assert answer.get(name) == full.get(name)
        assert answer.get("Content-Length") in (None, str(SIZE)), "9110 8.6"
    else:
        assert answer.body == FILE
    return answer.status == 304


@pytest.mark.parametrize("condition, matches", [
    ("{}", True), ("W/{}", True), ('"other", {}', True), ('{}, "other"', True), ('"a,b",{}', True), (' , {} , ', True), ("*", True),
    ('"other"', False), ('W/"other"', False), ('""', False), ('"a {}"', False), ("other", False), ("", False)])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_if_none_match(server: Server, full: Answer, etag: str, condition: str, matches: bool, method: str) -> None:
    """RFC 9110 13.1.2: weak comparison."""
    opaque = etag.removeprefix("W/")
    condition = condition.format(opaque if '"a {}"' != condition else opaque.strip('"'))
    with server.connect() as connection:
        answer = connection.send(request(method, PATH, f"If-None-Match: {condition}") + SECOND).answer(method)
        if method == "GET":
            assert not_modified(answer, full) == matches
        else:
            assert answer.status == (304 if matches else 200)
        assert connection.answer().json == {"greeting": "Hello Second!"}


def test_if_none_match_in_two_lines(server: Server, full: Answer, etag: str) -> None:
    """RFC 9110 5.3: multiple lines of a list form one list."""
    assert not_modified(server.get(PATH, 'If-None-Match: "other"', f"If-None-Match: {etag}"), full)


@pytest.mark.parametrize("later_s, matches", [(0, True), (1, True), (86_400, True), (-1, False), (-10**8, False)])
def test_if_modified_since(server: Server, full: Answer, modified: datetime, later_s: int, matches: bool) -> None:
    """RFC 9110 13.1.3. A server may accept only its own Last-Modified as a match."""
    moment = modified + timedelta(seconds=later_s)
    if moment > datetime.now(timezone.utc):
        pytest.skip("the date is in the future")
    answer = server.get(PATH, f"If-Modified-Since: {date(moment)}")
    assert not_modified(answer, full) == matches or (not server.promises and later_s > 0)


@pytest.fixture
def long_ago(folder: Path) -> Path:
    """A file whose date can be written in all three formats: RFC 850's year has two digits, and means a year
    in the past."""
    file = folder / "old.bin"
    file.write_bytes(b"old")
    moment = datetime(2019, 11, 6, 8, 49, 37, tzinfo=timezone.utc).timestamp()
    os.utime(file, (moment, moment))
    return file


@pytest.mark.parametrize("form", ["Wed, 06 Nov 2019 08:49:37 GMT", "Wednesday, 06-Nov-19 08:49:37 GMT", "Wed Nov  6 08:49:37 2019"])
def test_the_three_forms_of_a_date(server: Server, long_ago: Path, form: str) -> None:
    """RFC 9110 5.6.7: a recipient must accept all three."""
    assert validator(server.get("/files/old.bin"), "Last-Modified") == "Wed, 06 Nov 2019 08:49:37 GMT"
    assert server.get("/files/old.bin", f"If-Modified-Since: {form}").status == 304
    earlier = form.replace(":37", ":36")
    assert server.get("/files/old.bin", f"If-Modified-Since: {earlier}").status == 200


@pytest.mark.parametrize("form", [
    "", "0", "-1", "now", "Wed, 06 Nov 2019", "06 Nov 2019 08:49:37 GMT", "Wed, 6 Nov 2019 08:49:37 GMT", "Wed, 32 Nov 2030 08:49:37 GMT",
    "Wed, 06 Nov 2030 25:49:37 GMT", "Wed, 06 Nov 2030 08:60:37 GMT", "Wed, 30 Feb 2022 08:49:37 GMT", "2030-11-06T08:49:37Z",
    "Wed, 06 Nov 99999999 08:49:37 GMT", "Wed, 06 Nov 0000 08:49:37 GMT", "Xyz, 06 Nov 2022 08:49:37 GMT x", "1900000000",
    "Wed, 06 Nov 2019 08:49:37 GMT, Wed, 06 Nov 2019 08:49:37 GMT"])
def test_a_date_that_is_none_is_ignored(server: Server, long_ago: Path, form: str) -> None:
    """RFC 9110 13.1.3: dates in invalid formats are ignored. Some servers accept more than they should."""
    answer = server.get("/files/old.bin", f"If-Modified-Since: {form}")
    assert answer.status == 200 and answer.body == b"old" or not server.promises and answer.status in (304, 400)


def test_if_none_match_comes_first(server: Server, full: Answer, etag: str, modified: datetime) -> None:
    """RFC 9110 13.1.3: If-Modified-Since is ignored if If-None-Match is present."""
    assert not not_modified(server.get(PATH, 'If-None-Match: "other"', f"If-Modified-Since: {date(modified)}"), full)
    earlier = date(modified - timedelta(days=1))
    assert not_modified(server.get(PATH, f"If-None-Match: {etag}", f"If-Modified-Since: {earlier}"), full)


def test_if_match(server: Server, etag: str) -> None:
    """RFC 9110 13.1.1: strong comparison. A server that only reads may ignore it, but ours does not."""
    statuses = {condition: server.get(PATH, f"If-Match: {condition}").status
                for condition in (etag, f'"other", {etag}', "*", '"other"', "W/" + etag.removeprefix("W/"))}
    strong = not etag.startswith("W/")
    if server.promises:
        assert list(statuses.values()) == [200 if strong else 412, 200 if strong else 412, 200, 412, 412], statuses
    else:
        assert set(statuses.values()) <= {200, 412}


def test_if_unmodified_since(server: Server, modified: datetime) -> None:
    """Tests If-Unmodified-Since (RFC 9110 13.1.4)."""
    assert server.get(PATH, f"If-Unmodified-Since: {date(modified)}").status == 200
    earlier = server.get(PATH, f"If-Unmodified-Since: {date(modified - timedelta(seconds=1))}").status
    assert earlier == 412 if server.promises else earlier in (200, 412)
    assert server.get(PATH, "If-Unmodified-Since: nonsense").status == 200


def test_conditions_of_what_is_not_there(server: Server) -> None:
    for condition in ("If-None-Match: *", 'If-Match: "x"', "If-Modified-Since: Wed, 06 Nov 2019 08:49:37 GMT", "Range: bytes=0-1"):
        assert server.get("/files/none.bin", condition).status in (404, 412)


def test_a_changed_file_has_other_validators(server: Server, folder: Path) -> None:
    """The validators differ even if the length is the same."""
    file = folder / "changing.bin"
    file.write_bytes(b"before")
    os.utime(file, (time.time() - 100, time.time() - 100))
    first = server.get("/files/changing.bin")
    tag = validator(first, "ETag")
    file.write_bytes(b"behind")
    second = server.get("/files/changing.bin", f"If-None-Match: {tag}")
    assert second.status == 200 and second.body == b"behind" and second.get("ETag") != tag
    file.write_bytes(b"a longer one")
    assert server.get("/files/changing.bin").body == b"a longer one"
    file.unlink()
    assert server.get("/files/changing.bin").status == 404


# -- Ranges ------------------------------------------------------------------------------------


@pytest.fixture
def ranged(server: Server) -> Callable[..., Answer]:
    """Requests a range; a server without ranges ignores them, as RFC 9110 14.2 allows."""
    if server.get(PATH, "Range: bytes=0-0").status == 200:
        assert not server.promises
        pytest.skip("this server ignores ranges")
    return lambda ranges, *headers, path=PATH, method="GET": server.get(path, f"Range: {ranges}", *headers, method=method)


@pytest.mark.parametrize("ranges, first, last", [
    ("bytes=0-99", 0, 99), ("bytes=0-0", 0, 0), ("bytes=1-1", 1, 1), ("bytes=100-65535", 100, 65535), ("bytes=65535-65535", 65535, 65535),
    ("bytes=65000-", 65000, 65535), ("bytes=0-", 0, 65535), ("bytes=65000-70000", 65000, 65535), ("bytes=-1", 65535, 65535),
    ("bytes=-100", 65436, 65535), ("bytes=-70000", 0, 65535), ("bytes=000-0099", 0, 99),
    ("bytes=0-18446744073709551615", 0, 65535), ("bytes=0-99999999999999999999999999", 0, 65535),
    ("bytes=-99999999999999999999999999", 0, 65535), ("bytes=-18446744073709551617", 0, 65535)])
def test_a_range(ranged: Callable[..., Answer], server: Server, ranges: str, first: int, last: int) -> None:
    """Tests ranges within a file (RFC 9110 14.1.2, 15.3.7)."""
    answer = ranged(ranges)
    assert answer.status == 206 or not server.promises and "999" in ranges
    if answer.status == 206:
        assert answer.get("Content-Range") == f"bytes {first}-{last}/{SIZE}"
        assert answer.body == FILE[first:last + 1]
        assert answer.get("Content-Length") in (str(last + 1 - first), None)


@pytest.mark.parametrize("ranges", ["bytes=65536-", "bytes=65536-65537", "bytes=70000-80000", "bytes=-0", "bytes=18446744073709551616-",
                                    "bytes=99999999999999999999999999-", "bytes=18446744073709551616-18446744073709551716"])
def test_a_range_beyond_the_end(ranged: Callable[..., Answer], server: Server, ranges: str) -> None:
    """Tests ranges beyond the end of a file (RFC 9110 15.5.17)."""
    answer = ranged(ranges)
    assert answer.status in ((416,) if server.promises else (416, 200, 400))
    assert FILE[:100] not in answer.body or answer.status == 200
    if answer.status == 416:
        assert answer.get("Content-Range") == f"bytes */{SIZE}" or not server.promises


@pytest.mark.parametrize("ranges", ["", "0-99", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=0-99x", "bytes=--1", "bytes=+1-2",
                                    "bytes=1", "bytes 0-99", "byte=0-99", "items=0-99", "bytes=0x0-0x9", "bytes=0 - 9", "bytes:0-99",
                                    "bytes=0-99/65536", "bytes=1.0-2", "bytes=\u00b9-\u00b2"])
def test_a_range_that_is_none_is_ignored(ranged: Callable[..., Answer], server: Server, ranges: str) -> None:
    """RFC 9110 14.2: an unknown unit must be ignored; a malformed range may be ignored or rejected."""
    answer = ranged(ranges)
    if server.promises or answer.status == 200:
        assert answer.status == 200 and answer.body == FILE
    else:
        assert answer.status in (206, 400, 416)


@pytest.mark.parametrize("ranges", ["bytes=0-1,4-5", "bytes=0-1, -2", "bytes=0-9,5-20", "bytes=5-6,0-1", "bytes=0-0,99999-", "bytes= 0-1 , 4-5 ,",
                                    "bytes=" + ",".join(["0-"] * 500), "bytes=" + ",".join(f"{i}-{i}" for i in range(0, 2000, 2))],
                         ids=lambda ranges: ranges[:20])
def test_several_ranges(ranged: Callable[..., Answer], ranges: str) -> None:
    """RFC 9110 14.2, 15.3.7.2: the response to multiple ranges contains the parts, the whole file, or one of the ranges.
    Many overlapping ranges do not multiply the sent data."""
    answer = ranged(ranges)
    assert answer.status in (200, 206, 400, 416)
    assert len(answer.body) < 3 * SIZE
    if answer.status == 200:
        assert answer.body == FILE
    elif answer.status == 206 and answer.get("Content-Range"):
        first, last = re.fullmatch(rf"bytes (\d+)-(\d+)/{SIZE}", answer.get("Content-Range")).groups()
        assert answer.body == FILE[int(first):int(last) + 1]
    elif answer.status == 206:
        boundary = re.search(r'boundary="?([^";]+)', answer.get("Content-Type"))[1].encode()
        parts = answer.body.split(b"--" + boundary)[1:-1]
        assert parts
        for part in parts:
            head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
            first, last = re.search(rb"(?i)content-range: bytes (\d+)-(\d+)/%d" % SIZE, head).groups()
            assert content.removesuffix(b"\r\n") == FILE[int(first):int(last) + 1]


def test_ranges_are_for_get(ranged: Callable[..., Answer]) -> None:
    """RFC 9110 14.2: other methods ignore ranges."""
    head = ranged("bytes=0-99", method="HEAD")
    assert head.status in (200, 206)
    assert ranged("bytes=0-99", path="/api").json == {"greeting": "Hello World!"}


def test_an_empty_file_has_no_range(ranged: Callable[..., Answer], server: Server) -> None:
    assert ranged("bytes=0-", path="/files/empty.bin").status in (200, 416)
    assert ranged("bytes=0-0", path="/files/empty.bin").status in (200, 416)
    assert ranged("bytes=-1", path="/files/empty.bin").status in (200, 206, 416)


def test_if_range(ranged: Callable[..., Answer], server: Server, etag: str, modified: datetime) -> None:
    """RFC 9110 13.1.5: the server sends a range only if the client has a part of the same version. A weak tag never
    matches."""
    def statuses(*conditions: str) -> list[int]:
        return [ranged("bytes=0-99", f"If-Range: {condition}").status for condition in conditions]

    assert statuses('"other"', "W/" + etag.removeprefix("W/"), "nonsense", date(modified - timedelta(days=1))) == [200] * 4
    assert statuses(etag) == [200 if etag.startswith("W/") else 206]
    if server.promises:
        assert statuses(date(modified + timedelta(days=1))) == [200], "If-Range requires an exact match"


def test_conditions_before_ranges(ranged: Callable[..., Answer], etag: str) -> None:
    """Conditions are evaluated before ranges (RFC 9110 13.2.2)."""
    assert ranged("bytes=0-99", f"If-None-Match: {etag}").status == 304
    assert ranged("bytes=0-99", 'If-None-Match: "other"').status == 206
    assert ranged("bytes=99999-", f"If-None-Match: {etag}").status == 304
