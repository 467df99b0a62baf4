# SPDX-License-Identifier: Apache-2.0
"""experiments/rest/README.md, path by path: the response of every server."""

import json
import time
from email.utils import parsedate_to_datetime
from urllib.parse import quote

import pytest

from experiments import EXPERIMENTS
from http1 import Answer, chunked
from server import Server

ORDER = (EXPERIMENTS / "rest" / "order.json").read_bytes()
OTHER_ORDER = (EXPERIMENTS / "rest" / "order-other.json").read_bytes()
TORN = (EXPERIMENTS / "rest" / "order-torn.json").read_bytes()
BODY_MAX = 65_536

LATE_S = 60
"""The time by which a date may be late: some servers update it with a timer, which is late on a busy machine."""

GETS = ["/api", "/api/built?number=17", "/api/hello/Ada", "/files/64k.bin"]

NAMES = ["Ada", "x", "7", 'Ada "Countess" Lovelace', "O'Brien-Smith Jr.", "x" * 32, "a b c", "Z-.'\""]
NOT_NAMES = ["x" * 33, "A<B", "a_b", "a+b", "a\\b", "a\nb", "a\0", "é", "日本", "a\x7f", "a;b", "a%b"]


def test_what_open_replies(server: Server) -> None:
    opened = server.opened
    workers = opened.number("workers")
    assert 0 <= workers <= 8 or workers >= 1024  # one thread per connection
    assert opened.number("loops") >= 1


# -- GET ---------------------------------------------------------------------------------------


def test_the_constant(server: Server) -> None:
    answer = server.ask("GET", "/api")
    assert answer.status == 200
    assert answer.body == b'{"greeting":"Hello World!"}'
    answer.json()


@pytest.mark.parametrize("number", [0, 9, 17, 999_999])
def test_a_number(server: Server, number: int) -> None:
    answer = server.ask("GET", f"/api/built?number={number}")
    assert answer.status == 200
    assert answer.json() == {"greeting": "Hello World!", "number": number}


@pytest.mark.parametrize("query", ["", "?", "?number", "?number=", "?number=1000000", "?number=-1",
                                   "?number=x", "?number=1e3", "?number=17x", "?number=1.5",
                                   "?number=99999999999999999999999", "?other=17", "?Number=17"])
def test_no_number(server: Server, query: str) -> None:
    assert server.ask("GET", f"/api/built{query}").status == 400


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encode", [
    lambda name: quote(name, safe=""),
    lambda name: "".join(f"%{ord(character):02x}" for character in name)], ids=["some", "all"])
def test_a_name(server: Server, name: str, encode) -> None:
    answer = server.ask("GET", f"/api/hello/{encode(name)}")
    assert answer.status == 200
    assert answer.json() == {"greeting": f"Hello {name}!"}


@pytest.mark.parametrize("name", NOT_NAMES)
def test_no_name(server: Server, name: str) -> None:
    assert server.ask("GET", f"/api/hello/{quote(name, safe='')}").status == 400


@pytest.mark.parametrize("name", ["%", "%4", "%zz", "%ff", "%c0%af"])
def test_a_name_that_is_not_encoded_well(server: Server, name: str) -> None:
    """The text is not a valid name, or not HTTP. If it is not HTTP, the server may close the connection without a
    response."""
    answer = server.ask_in_vain("GET", f"/api/hello/{name}")
    assert answer is None or answer.status == 400


@pytest.mark.parametrize("name", ["", "a%2Fb"])
def test_what_may_be_no_name_or_no_path(server: Server, name: str) -> None:
    assert server.ask("GET", f"/api/hello/{name}").status in (400, 404)


@pytest.mark.parametrize("name", ["64k.bin", "short.bin", "empty.bin", "%36%34k.bin"])
def test_a_file(server: Server, name: str) -> None:
    answer = server.ask("GET", f"/files/{name}")
    assert answer.status == 200
    assert answer.header("content-type") == "application/octet-stream"
    assert answer.body == (server.files / name.replace("%36%34", "64")).read_bytes()


@pytest.mark.parametrize("path", [
    "/files/none.bin", "/files/../secret.bin", "/files/../../../../../../etc/passwd",
    "/files/..%2fsecret.bin", "/files/%2e%2e/secret.bin", "/files/%2E%2E%2Fsecret.bin",
    "/files/%252e%252e/secret.bin", "/files/x/../../secret.bin", "/files//etc/passwd",
    "/files/%2fetc%2fpasswd", "/files/..%5csecret.bin", "/files/..", "/files/.", "/files/%2e%2e",
    "/files/64k.bin%00", "/files/%00", "/files/64k.bin%00.txt", "/files/" + "x" * 300,
    "/files/64k.bin/x", "/files/..;/secret.bin"])
def test_no_file(server: Server, path: str) -> None:
    """The response is a rejection, not found, or a redirect; or the connection is closed."""
    answer = server.ask_in_vain("GET", path)
    if answer is not None:
        assert answer.status >= 300
        assert b"a secret" not in answer.body and b"root:" not in answer.body
    if path == "/files/none.bin":
        assert answer is not None and answer.status == 404


@pytest.mark.parametrize("path", GETS)
def test_head(server: Server, path: str) -> None:
    with server.connect() as connection:
        get = connection.ask("GET", path)
        head = connection.ask("HEAD", path)
        assert head.status == 200
        assert head.header("content-type") == get.header("content-type")
        assert head.header("content-length") in (None, str(len(get.body)))
        assert connection.ask("GET", "/api").status == 200, "the response to HEAD must not have a body"


@pytest.mark.parametrize("path, status", [
    ("/nothing", 404), ("/files/none.bin", 404), ("/api/built?number=x", 400)])
def test_head_of_an_error(server: Server, path: str, status: int) -> None:
    with server.connect() as connection:
        assert connection.ask("HEAD", path, headers={"Connection": "close"}).status == status
        assert connection.at_end()


@pytest.mark.parametrize("path", ["/", "/nothing", "/apix", "/API", "/api/nothing", "/api/hello",
                                  "/api/hello/a/b", "/filesx", "/api/built/x", "/api/echo/x"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_another_path(server: Server, method: str, path: str) -> None:
    """The response is not found; a server that only serves files there may say that it does not support the
    method."""
    status = server.ask(method, path, b"{}" if method == "POST" else None).status
    assert status == 404 or method != "GET" and status == 405


@pytest.mark.parametrize("path, allowed, methods", [
    *((path, "GET", ["POST", "PUT", "DELETE", "PATCH"]) for path in GETS),
    ("/api/echo", "POST", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])])
def test_another_method(server: Server, path: str, allowed: str, methods: list[str]) -> None:
    with server.connect() as connection:
        for method in methods:
            body = ORDER if method in ("POST", "PUT", "PATCH") else None
            answer = connection.ask(method, path, body)
            assert answer.status == 405, method
            allow = {word.strip() for word in (answer.header("allow") or "").split(",")}
            assert allowed in allow and method not in allow, allow
            if "close" in answer.words:
                pytest.skip("this server closes the connection after a 405, which HTTP permits")
        assert connection.ask("GET", "/api").status == 200


# -- POST --------------------------------------------------------------------------------------


def assert_echoes(answer: Answer, document: bytes) -> None:
    assert answer.status == 200
    assert answer.json() == json.loads(document)
    assert answer.body != document, "the server must parse and serialize the document"


@pytest.mark.parametrize("document", [ORDER, OTHER_ORDER], ids=["order", "other"])
def test_a_document(server: Server, document: bytes) -> None:
    assert_echoes(server.ask("POST", "/api/echo", document), document)


@pytest.mark.parametrize("size", [1, 7, 500, 2000])
def test_a_document_in_chunks(server: Server, size: int) -> None:
    chunks = [ORDER[at:at + size] for at in range(0, len(ORDER), size)]
    with server.connect() as connection:
        for _ in range(2):
            connection.send(chunked("POST", "/api/echo", chunks))
            assert_echoes(connection.answer(), ORDER)


def sized(size: int) -> bytes:
    """Returns the document with a remark of the length that makes it this many bytes long."""
    document = json.loads(ORDER)
    document["remark"] = ""
    document["remark"] = "x" * (size - 1 - len(json.dumps(document)))
    return json.dumps(document).encode() + b"\n"


def test_a_document_of_64_kib(server: Server) -> None:
    document = sized(BODY_MAX)
    assert len(document) == BODY_MAX
    with server.connect() as connection:
        for _ in range(3):
            assert_echoes(connection.ask("POST", "/api/echo", document), document)


def test_a_document_that_is_larger(server: Server) -> None:
    """A document that is too large may be rejected, and the connection closed; it must not be answered like
    another document."""
    document = sized(2 * BODY_MAX)
    with server.connect() as connection:
        try:
            answer = connection.ask("POST", "/api/echo", document)
        except ConnectionError:
            pass  # the connection was closed before the whole document was sent
        else:
            assert answer.status in (200, 400, 413)
            if answer.status == 200:
                assert_echoes(answer, document)
    assert server.ask("GET", "/api").status == 200


@pytest.mark.parametrize("body", [
    b"", b" ", TORN, ORDER.rstrip()[:-1], ORDER + b"}", b"nonsense", b'{"id":}', b"{'id':1}", b"\0", b"[" * 5000],
    ids=["nothing", "a blank", "torn", "all but the last byte", "a byte too many", "a word",
         "no value", "other quotes", "a zero", "an abyss"])
def test_no_document(server: Server, body: bytes) -> None:
    with server.connect() as connection:
        assert connection.ask("POST", "/api/echo", body).status == 400
    assert_echoes(server.ask("POST", "/api/echo", ORDER), ORDER)


def test_a_client_that_waits_to_be_told_to_go_on(server: Server) -> None:
    """RFC 9110, 10.1.1: the server need not send 100 Continue, but then it must respond once the body was
    sent."""
    with server.connect() as connection:
        connection.send(b"POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(ORDER))
        time.sleep(0.1)
        connection.send(ORDER)
        assert_echoes(connection.answer(), ORDER)


# -- Headers -----------------------------------------------------------------------------------


ALL = [("GET", path, None) for path in GETS] + [
    ("HEAD", "/api", None), ("POST", "/api/echo", ORDER), ("GET", "/nothing", None),
    ("GET", "/api/built", None), ("DELETE", "/api", None), ("POST", "/api/echo", TORN)]


@pytest.mark.parametrize("method, path, body", ALL)
def test_date(server: Server, method: str, path: str, body: bytes | None) -> None:
    before = int(time.time())
    date = server.ask(method, path, body).header("date")
    after = time.time()
    assert date is not None and date.endswith(" GMT") and len(date) == 29
    assert before - LATE_S <= parsedate_to_datetime(date).timestamp() <= after


def test_the_date_advances(server: Server) -> None:
    with server.connect() as connection:
        first = connection.ask("GET", "/api").header("date")
        deadline = time.monotonic() + LATE_S
        while connection.ask("GET", "/api").header("date") == first:
            assert time.monotonic() < deadline, first
            time.sleep(0.1)


@pytest.mark.parametrize("method, path, body", ALL)
def test_the_length_is_told(server: Server, method: str, path: str, body: bytes | None) -> None:
    answer = server.ask(method, path, body)
    assert method == "HEAD" or answer.header("content-length") or answer.header("transfer-encoding")


@pytest.mark.parametrize("method, path, body", ALL)
def test_no_compression(server: Server, method: str, path: str, body: bytes | None) -> None:
    answer = server.ask(method, path, body, {"Accept-Encoding": "gzip, deflate, br, zstd"})
    assert answer.header("content-encoding") in (None, "identity")
