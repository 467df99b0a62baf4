# SPDX-License-Identifier: Apache-2.0
"""Request lines, targets, versions, methods and Host."""

import pytest

from client import request
from exchange import BAD, OK, Exchange, table
from servers import Server

HELLO = {"greeting": "Hello World!"}
NOT_FOUND = frozenset({404})
NO_SUCH_METHOD = frozenset({405, 501})


def line(start: bytes, *fields: bytes) -> bytes:
    """Returns a request with this request line; it has a Host field unless fields are given."""
    return b"\r\n".join([start, *(fields or [b"Host: localhost"]), b"", b""])


def bad(name: str, rfc: str, request: bytes, *allowed: int, **more: object) -> Exchange:
    """Creates a malformed request, which is rejected, and after which the connection ends."""
    return Exchange(name, rfc, request, BAD, frozenset(allowed), closes=True, **more)


def good(name: str, rfc: str, request: bytes, *allowed: int, json: object = HELLO, **more: object) -> Exchange:
    return Exchange(name, rfc, request, OK, frozenset(allowed), json, **more)


@table(
    good("a request", "9112 3", line(b"GET /api HTTP/1.1")),
    good("an empty line before it", "9112 2.2", b"\r\n" + line(b"GET /api HTTP/1.1")),
    good("a query", "9110 4.2.1", line(b"GET /api/built?number=17 HTTP/1.1"), json={**HELLO, "number": 17}),
    bad("two spaces", "9112 3", line(b"GET  /api HTTP/1.1"), 200),
    bad("a space at the end", "9112 3", line(b"GET /api HTTP/1.1 "), 200),
    bad("a space before it", "9112 3", line(b" GET /api HTTP/1.1"), 200, 405, 501),
    bad("a tab between", "9112 3", line(b"GET\t/api HTTP/1.1"), 200, 405, 501),
    bad("a tab behind the target", "9112 3", line(b"GET /api\tHTTP/1.1"), 200, 505),
    bad("a form feed between", "9112 3", line(b"GET\x0c/api HTTP/1.1"), 200, 405, 501),
    bad("a space in the target", "9112 3.2", line(b"GET /api /x HTTP/1.1"), 301, 404, 505),
    bad("no version", "9112 2.3", line(b"GET /api"), 505),
    bad("no target", "9112 3", line(b"GET HTTP/1.1"), 505),
    bad("only a method", "9112 3", line(b"GET"), 405, 501),
    bad("nothing in it", "9112 3", line(b" ")),
    bad("a carriage return in it", "9112 2.2", line(b"GET /a\rpi HTTP/1.1"), 404),
    bad("a carriage return too many", "9112 2.2", line(b"GET /api HTTP/1.1\r"), 200),
    bad("NUL in the target", "9112 3.2", line(b"GET /api\0 HTTP/1.1"), 404),
    bad("NUL in the method", "9110 5.6.2", line(b"G\0ET /api HTTP/1.1"), 405, 501),
    bad("a control character in the target", "3986 2", line(b"GET /api\x7f HTTP/1.1"), 404),
    bad("a byte beyond ASCII in the target", "3986 2", line(b"GET /\xc3\xa9 HTTP/1.1"), 404),
    *(good(f"a query {query!r} as browsers send it", "3986 3.4", line(b"GET /api?q=" + query + b" HTTP/1.1"), 400)
      for query in (b"A|B", b"{x}", b"100%", b"%zz", b"\xc3\xa9", b"<a>", b'"', b"`^", b"\\")),
    bad("a fragment", "9112 3.2", line(b"GET /api?q#x HTTP/1.1"), 200),
    bad("a method that is no token", "9110 9.1", line(b"GE(T /api HTTP/1.1"), 405, 501),
    bad("TLS on the port", "9112 3", bytes.fromhex("16030100c8010000c403035f") + b"\r\n\r\n"),
)
def test_request_line(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    good("1.2 is served as 1.1", "9110 2.5", line(b"GET /api HTTP/1.2"), 400, 505),
    good("1.0 needs no Host", "9112 3.2", line(b"GET /api HTTP/1.0", b"Accept: */*"), version="1.0"),
    Exchange("2.0", "9110 15.6.6", line(b"GET /api HTTP/2.0"), frozenset({505}), frozenset({400}), closes=True),
    Exchange("3.1", "9110 15.6.6", line(b"GET /api HTTP/3.1"), frozenset({505}), frozenset({400}), closes=True),
    Exchange("0.9", "9110 15.6.6", line(b"GET /api HTTP/0.9"), frozenset({400, 505}), closes=True),
    Exchange("the preface of HTTP/2", "9113 3.4", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", frozenset({400, 505}),
             closes=True),
    bad("lower case", "9112 2.3", line(b"GET /api http/1.1"), 505),
    bad("two digits", "9112 2.3", line(b"GET /api HTTP/1.10"), 505),
    bad("two digits first", "9112 2.3", line(b"GET /api HTTP/11.1"), 505),
    bad("no minor", "9112 2.3", line(b"GET /api HTTP/1."), 505),
    bad("no point", "9112 2.3", line(b"GET /api HTTP/11"), 505),
    bad("a comma", "9112 2.3", line(b"GET /api HTTP/1,1"), 505),
    bad("a letter behind it", "9112 2.3", line(b"GET /api HTTP/1.1x"), 505),
    bad("a space in it", "9112 2.3", line(b"GET /api HTTP/ 1.1"), 505, 404),
    bad("a sign", "9112 2.3", line(b"GET /api HTTP/+1.1"), 505),
    bad("another protocol", "9112 2.3", line(b"GET /api ICY/1.1"), 505),
)
def test_version(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    bad("none", "9112 3.2", line(b"GET /api HTTP/1.1", b"Accept: */*")),
    bad("two", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: localhost", b"Host: elsewhere")),
    bad("the same twice", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: localhost", b"Host: localhost")),
    bad("two in other cases", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: localhost", b"hOST: elsewhere")),
    bad("a list", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: localhost, elsewhere")),
    bad("a space in it", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: local host")),
    bad("a path in it", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: localhost/api")),
    bad("a user in it", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: me@localhost")),
    bad("a query in it", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: localhost?x")),
    bad("no port number", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: localhost:http")),
    bad("percent-encoded", "3986 3.2.2", line(b"GET /api HTTP/1.1", b"Host: %6cocalhost"), 200),
    bad("a percent sign", "3986 3.2.2", line(b"GET /api HTTP/1.1", b"Host: localhost%")),
    bad("NUL in it", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host: local\0host")),
    good("upper case", "9110 5.1", line(b"GET /api HTTP/1.1", b"HOST: LOCALHOST")),
    good("a port", "9110 7.2", line(b"GET /api HTTP/1.1", b"Host: localhost:8080")),
    good("an empty port", "3986 3.2.3", line(b"GET /api HTTP/1.1", b"Host: localhost:"), 400),
    good("an IPv6 address", "3986 3.2.2", line(b"GET /api HTTP/1.1", b"Host: [::1]:8080")),
    good("blanks around it", "9112 5", line(b"GET /api HTTP/1.1", b"Host: \t localhost \t")),
    Exchange("an empty one", "9112 3.2", line(b"GET /api HTTP/1.1", b"Host:"), OK | BAD),
)
def test_host(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    good("absolute", "9112 3.2.2", line(b"GET http://localhost/api HTTP/1.1")),
    good("absolute with a port", "9112 3.2.2", line(b"GET http://localhost:8080/api HTTP/1.1")),
    good("absolute in upper case", "3986 3.1", line(b"GET HTTP://LOCALHOST/api HTTP/1.1")),
    good("absolute, Host differs", "9112 3.2.2",
         line(b"GET http://localhost/api HTTP/1.1", b"Host: elsewhere"), 400, 421),
    good("absolute in 1.0", "9112 3.2.2", line(b"GET http://localhost/api HTTP/1.0"), version="1.0"),
    bad("absolute without Host", "9112 3.2", line(b"GET http://localhost/api HTTP/1.1", b"Accept: */*")),
    bad("absolute, percent-encoded host", "3986 3.2.2", line(b"GET http://%6cocalhost/api HTTP/1.1"), 200),
    bad("absolute without a host", "9110 4.2.1", line(b"GET http:///api HTTP/1.1"), 404),
    Exchange("absolute without a path", "9112 3.2.2", line(b"GET http://localhost HTTP/1.1"), NOT_FOUND),
    Exchange("absolute without a path, with a query", "9112 3.2.2", line(b"GET http://localhost?x HTTP/1.1"), NOT_FOUND),
    Exchange("another scheme", "9110 7.4", line(b"GET ftp://localhost/api HTTP/1.1"), frozenset({400, 404, 421}),
             OK),
    bad("authority", "9112 3.2.3", line(b"GET localhost:80 HTTP/1.1"), 404),
    bad("a path without its slash", "9112 3.2.1", line(b"GET api HTTP/1.1"), 404),
    bad("an asterisk", "9112 3.2.4", line(b"GET * HTTP/1.1"), 404),
    bad("a fragment", "9112 3.2.1", line(b"GET /api#part HTTP/1.1"), 200, 404),
    bad("a backslash", "3986 3.3", line(b"GET \\api HTTP/1.1"), 404),
    Exchange("two slashes", "9112 3.2.1", line(b"GET //localhost/api HTTP/1.1"), frozenset({400, 404}), OK),
)
def test_target(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    good("an unreserved character", "3986 6.2.2.2", line(b"GET /%61pi HTTP/1.1"), 404),
    good("in either case", "3986 2.1", line(b"GET /api/hello/O%27B%2dC%2E HTTP/1.1"), json={"greeting": "Hello O'B-C.!"}),
    good("a quotation mark", "3986 2.1", line(b"GET /api/hello/A%22B HTTP/1.1"), json={"greeting": "Hello A\"B!"}),
    good("a space", "3986 2.1", line(b"GET /api/hello/A%20B HTTP/1.1"), json={"greeting": "Hello A B!"}),
    good("32 characters", "experiment", line(b"GET /api/hello/" + b"%41" * 32 + b" HTTP/1.1"),
         json={"greeting": f"Hello {'A' * 32}!"}),
    good("in a query", "3986 3.4", line(b"GET /api/built?number=%31%37 HTTP/1.1"), json={**HELLO, "number": 17}),
    *(Exchange(f"{name} in a name", "experiment", line(b"GET /api/hello/" + path + b" HTTP/1.1"), BAD, frozenset({404}))
      for name, path in {
          "33 characters": b"A" * 33, "plus": b"A+B", "a slash": b"A%2FB", "NUL": b"A%00B", "LF": b"A%0AB",
          "CRLF": b"A%0d%0aX:%20y", "two bytes of UTF-8": b"%C3%A9", "a lone byte": b"%E9", "less than": b"%3Cb%3E",
          "a percent sign": b"%25", "an escape of an escape": b"%2541", "a question mark": b"A%3FB",
      }.items()),
    Exchange("no name", "experiment", line(b"GET /api/hello/ HTTP/1.1"), frozenset({400, 404})),
    Exchange("a name too many", "experiment", line(b"GET /api/hello/A/B HTTP/1.1"), frozenset({400, 404})),
    *(Exchange(f"an escape {path!r}", "3986 2.1", line(b"GET /api/hello/" + path.encode() + b" HTTP/1.1"), BAD)
      for path in ("%", "A%4", "%zz", "%4g", "%-1", "%+4", "%%41")),
)
def test_percent_encoding(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    *(good(f"number={number}", "experiment", line(f"GET /api/built?number={number} HTTP/1.1".encode()),
           json={**HELLO, "number": int(number)}) for number in ("0", "9", "999999")),
    *(Exchange(f"query {query!r}", "experiment", line(b"GET /api/built" + query.encode() + b" HTTP/1.1"), BAD)
      for query in ("", "?", "?number", "?number=", "?number=1000000", "?number=-1", "?number=+1", "?number=1.0",
                    "?number=1e3", "?number=0x1", "?number=1_0", "?number=16%23", "?number=%201", "?number=18446744073709551617",
                    "?number=99999999999999999999999999", "?Number=1", "?other=1", "?number=%zz", "?number=%D9%A1")),
)
def test_number_of_a_query(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    *(Exchange(f"{method} {path}", "9110 15.5.6", request(method, path), frozenset({405}), method=method)
      for method, path in (("DELETE", "/api"), ("PUT", "/api"), ("PATCH", "/api/built"), ("POST", "/api"),
                           ("DELETE", "/api/hello/Ada"), ("POST", "/files/64k.bin"), ("GET", "/api/echo"),
                           ("HEAD", "/api/echo"))),
    Exchange("unknown", "9110 9.1", request("BREW"), NO_SUCH_METHOD, BAD, method="BREW"),
    Exchange("in lower case", "9110 9.1", request("get"), NO_SUCH_METHOD, BAD, method="get"),
    Exchange("of a hundred letters", "9112 3", request("X" * 100), NO_SUCH_METHOD | BAD, method="X" * 100),
    Exchange("TRACE", "9110 9.3.8", request("TRACE"), NO_SUCH_METHOD, method="TRACE"),
    Exchange("CONNECT", "9112 3.2.3", line(b"CONNECT localhost:80 HTTP/1.1"), NO_SUCH_METHOD | BAD, method="CONNECT"),
    Exchange("CONNECT of a path", "9112 3.2.3", line(b"CONNECT /api HTTP/1.1"), NO_SUCH_METHOD | BAD, method="CONNECT"),
    Exchange("PRI", "9113 3.4", request("PRI"), NO_SUCH_METHOD | BAD, method="PRI"),
    Exchange("another path", "9110 15.5.5", request("GET", "/nothing"), NOT_FOUND),
    Exchange("another path with another method", "9110 15.5.5", request("POST", "/nothing", body=b""), NOT_FOUND,
             frozenset({405}), method="POST"),
    Exchange("a path that goes on", "experiment", request("GET", "/api2"), NOT_FOUND),
    Exchange("a path with a slash more", "experiment", request("GET", "/api/"), NOT_FOUND, OK),
    Exchange("the root", "experiment", request("GET", "/"), NOT_FOUND),
)
def test_method_and_path(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@pytest.mark.parametrize("path", ["/api", "/api/built?number=17", "/api/hello/Ada", "/files/64k.bin", "/nothing",
                                  "/api/built?number=x"])
def test_head_is_get_without_its_body(server: Server, path: str) -> None:
    """HEAD returns the same header as GET (RFC 9110 9.3.2)."""
    with server.connect() as connection:
        answer = connection.send(request("GET", path)).answer()
        head = connection.send(request("HEAD", path)).answer("HEAD")
        assert connection.is_open(), "the response to HEAD has a body"
        assert head.status == answer.status
        varies = {b"date", b"transfer-encoding", *({b"content-length"} if head.get("Content-Length") is None else ())}
        assert ([field for field in head.headers if field[0] not in varies]
                == [field for field in answer.headers if field[0] not in varies])
        assert connection.send(request()).answer().status == 200


@pytest.mark.parametrize("path, methods", [
    ("/api", {"get", "head"}), ("/api/built", {"get", "head"}), ("/api/hello/Ada", {"get", "head"}),
    ("/api/echo", {"post"}), ("/files/64k.bin", {"get", "head"})])
def test_allow_says_what_there_is(server: Server, path: str, methods: set[str]) -> None:
    """Allow lists the supported methods (RFC 9110 9.3.7, 10.2.1)."""
    allowed = server.get(path, method="PUT").words("Allow")
    assert methods <= allowed <= methods | {"options"}
    if server.promises:
        options = server.get(path, method="OPTIONS")
        assert options.status in (200, 204)
        assert methods <= options.words("Allow") <= methods | {"options"}
        if options.status == 200 and not options.body:
            assert options.get("Content-Length") == "0"


def test_options_of_the_server(server: Server) -> None:
    """RFC 9110 9.3.7: OPTIONS with an asterisk applies to the server, not to a resource."""
    answer = server.get("*", method="OPTIONS")
    assert answer.status in ((200, 204) if server.promises else (200, 204, 400, 404, 405, 501))


def test_options_with_a_body(server: Server) -> None:
    """RFC 9110 9.3.7: a body is not read as a request."""
    with server.connect() as connection:
        connection.send(request("OPTIONS", "/api", "Content-Type: text/plain", body=request("GET", "/api/hello/smuggled")))
        answer = connection.answer("OPTIONS")
        if not answer.closes:
            assert connection.send(request()).answer().json == HELLO


@pytest.mark.parametrize("length", [1000, 4000, 8000])
def test_a_long_target_is_taken(server: Server, length: int) -> None:
    """RFC 9112 3: request lines of at least 8,000 octets. The embedded profile's limit is chosen by its user."""
    answer = server.get("/" + "x" * (length - len("GET / HTTP/1.1")))
    assert answer.status == 404 or (answer.status == 414 and server.target.name == "ada-embedded" and length > 1000)


@pytest.mark.promised
@pytest.mark.parametrize("length", [100_000, 1_000_000])
@pytest.mark.parametrize("ends", [True, False], ids=["complete", "without an end"])
def test_a_target_that_is_too_long(server: Server, length: int, ends: bool) -> None:
    """RFC 9110 15.5.15. The response arrives, no matter how much the client still sends."""
    with server.connect() as connection:
        long = request("GET", "/" + "x" * length)
        answer = connection.send(long if ends else long[:length]).answer()
        assert answer.status == 414 and answer.closes
        connection.must_end()


@pytest.mark.promised
@pytest.mark.parametrize("kind", ["one long field", "one long name", "many fields", "many small fields", "without an end"])
def test_a_header_that_is_too_large(server: Server, kind: str) -> None:
    """A header that is too large gets status 431 (RFC 6585 5)."""
    fields = {"one long field": [f"X-Long: {'x' * 100_000}"],
              "one long name": [f"{'X' * 100_000}: x"],
              "many fields": [f"X-Field-{i}: {'x' * 100}" for i in range(1000)],
              "many small fields": ["a:"] * 50_000,
              "without an end": [f"X-Long: {'x' * 100_000}"]}[kind]
    sent = request("GET", "/api", *fields)
    with server.connect() as connection:
        answer = connection.send(sent[:-1000] if kind == "without an end" else sent).answer()
        assert answer.status == 431 and answer.closes
        connection.must_end()


def test_a_header_of_a_browser_is_taken(server: Server) -> None:
    """The header of a browser has about 3 KB in 30 fields, with cookies."""
    fields = [f"X-Field-{i}: {'x' * 50}" for i in range(29)] + [f"Cookie: session={'y' * 800}"]
    assert server.get("/api", *fields).json == HELLO


def test_empty_lines_without_an_end(server: Server) -> None:
    """RFC 9112 2.2 lets a server ignore one empty line; a client that sends nothing else does not keep it busy
    forever."""
    with server.connect() as connection:
        connection.send(b"\r\n" * 100_000)
        connection.end_sending()
        connection.everything()
    server.must_serve()
