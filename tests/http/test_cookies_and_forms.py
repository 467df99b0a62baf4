# SPDX-License-Identifier: Apache-2.0
"""Cookies and forms of the library in appserver/ada, compared with Python's own parsers."""

import random
import re
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode

import pytest

from client import request
from test_services import Program, program  # noqa: F401

SEED = 25
FORM = "Content-Type: application/x-www-form-urlencoded"

Pairs = list[tuple[bytes, bytes]]


def pairs(text: bytes) -> Pairs:
    """Returns the pairs in a response of /cookies or /form."""
    lines = [line.split(b"=") for line in text.splitlines()]
    return [(bytes.fromhex(name.decode()), bytes.fromhex(value.decode())) for name, value in lines]


def cookies(program: Program, *fields: bytes) -> Pairs:
    lines = b"".join(b"Cookie: %b\r\n" % field for field in fields)
    with program.connect() as connection:
        answer = connection.send(b"GET /cookies HTTP/1.1\r\nHost: h\r\n%b\r\n" % lines).answer()
    assert answer.status == 200
    return pairs(answer.body)


def form(program: Program, body: bytes, *headers: str) -> tuple[int, Pairs]:
    with program.connect() as connection:
        answer = connection.send(request("POST", "/form", *(headers or (FORM,)), body=body)).answer("POST")
    return answer.status, pairs(answer.body)


@pytest.mark.parametrize("sent, expected", [
    ([], []), ([b""], []), ([b"a=b"], [(b"a", b"b")]), ([b"a=b; c=d"], [(b"a", b"b"), (b"c", b"d")]),
    ([b"a=b;c=d ;\te=f"], [(b"a", b"b"), (b"c", b"d"), (b"e", b"f")]), ([b"a=b", b"c=d"], [(b"a", b"b"), (b"c", b"d")]),
    ([b'a="b c"'], [(b"a", b"b c")]), ([b"a="], [(b"a", b"")]),
    ([b'a=""'], [(b"a", b"")]), ([b"a=b=c"], [(b"a", b"b=c")]),
    ([b"a=1; a=2; A=3"], [(b"a", b"1"), (b"a", b"2"), (b"A", b"3")]), ([b"; ;;a=b;"], [(b"a", b"b")]),
    ([b"a; =b; a b=c; (=d; e=f"], [(b"e", b"f")]), ([b'a="b; c=d"; e=f'], [(b"e", b"f")]),
    ([b'a=b"c; d=e'], [(b"d", b"e")]),
    ([b"a=\\; b=\xff; c=\xc3\xa9; d=x"], [(b"d", b"x")]), ([b"a=b,c d"], [(b"a", b"b,c d")])])
def test_cookies_of_a_request(program: Program, sent: list[bytes], expected: Pairs) -> None:
    """RFC 6265 4.2.1; an invalid pair is skipped, and the others are used."""
    assert cookies(program, *sent) == expected


def test_so_many_cookies(program: Program) -> None:
    pairs = [(b"c%d" % number, b"%d" % number) for number in range(250)]
    assert cookies(program, b"; ".join(b"%b=%b" % pair for pair in pairs)) == pairs[:200]


def test_cookies_are_fuzzed(program: Program) -> None:
    """Compares with a parser that splits, trims and uses regular expressions."""
    dice = random.Random(SEED)
    pieces = [b"a", b"b", b"=", b";", b"; ", b'"', b" ", b"\t", b",", b"\\", b"\xff", b"\xc3\xa9", b"%20",
              b"()", b"__Host-", b"a=b"]
    for _ in range(300):
        sent = b"".join(dice.choices(pieces, k=dice.randrange(25)))
        expected = []
        for part in sent.split(b";"):
            name, sign, value = part.partition(b"=")
            name, value = name.strip(b" \t"), value.strip(b" \t")
            if len(value) > 1 and value[:1] == value[-1:] == b'"':
                value = value[1:-1]
            is_token = re.fullmatch(rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+", name)
            if sign and is_token and re.fullmatch(rb'[ !#-:<-\[\]-~]*', value):
                expected.append((name, value))
        assert cookies(program, sent) == expected, f"seed {SEED}: {sent!r}"


def test_a_cookie_is_set(program: Program) -> None:
    answer = program.get("/set-cookie?name=__Host-id&value=x1")
    assert answer.status == 204
    new, old = answer.all("Set-Cookie")
    assert new == "__Host-id=x1; Max-Age=60; Path=/; Secure; HttpOnly; SameSite=Lax"
    assert old == "old=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax"
    read = SimpleCookie(new)["__Host-id"]
    assert read.value == "x1" and read["max-age"] == "60" and read["secure"] and read["httponly"]
    assert read["path"] == "/"


@pytest.mark.parametrize("name, value", [("a b", "x"), ("", "x"), ("a=b", "x"), ("a", "x;Domain=evil"),
                                         ("a", "x\r\nY: z"), ("a", 'x"'), ("a", "x y"), ("a", "é"), ("a", "x" * 4097)])
def test_a_cookie_that_is_none(program: Program, name: str, value: str) -> None:
    """The precondition rejects the cookie, so that a client's input does not get into the header."""
    answer = program.get(f"/set-cookie?name={quote(name)}&value={quote(value)}")
    assert answer.status == 500 and not answer.all("Set-Cookie")


@pytest.mark.parametrize("body, expected", [
    (b"", []), (b"a=b", [(b"a", b"b")]), (b"a", [(b"a", b"")]), (b"=b", [(b"", b"b")]),
    (b"a=b&&c=d&", [(b"a", b"b"), (b"c", b"d")]),
    (b"a+b=c%20d%2B", [(b"a b", b"c d+")]), (b"a=%C3%a9%00%0d%0A", [(b"a", b"\xc3\xa9\0\r\n")]),
    (b"a=%4&b=%zz%", [(b"a", b"%4"), (b"b", b"%zz%")]),
    (b"a=b=c&a=2", [(b"a", b"b=c"), (b"a", b"2")]), (b"a;b=c", [(b"a;b", b"c")])])
def test_forms(program: Program, body: bytes, expected: Pairs) -> None:
    assert form(program, body) == (200, expected)
    assert form(program, body, FORM.upper() + " ; charset=UTF-8") == (200, expected)


@pytest.mark.parametrize("headers", [("X: y",), ("Content-Type: application/json",),
                                     ("Content-Type: multipart/form-data",), (FORM + "x",), ("Content-Type:",)])
def test_no_form(program: Program, headers: tuple[str, ...]) -> None:
    assert form(program, b"a=b", *headers) == (415, [])


def test_the_limits_of_a_form(program: Program) -> None:
    """1,000 decoded bytes and 20 fields are the handler's limits."""
    assert form(program, b"a=" + b"x" * 999)[0] == 200 and form(program, b"a=" + b"x" * 1000) == (413, [])
    assert form(program, b"a=" + b"%41" * 999)[0] == 200 and form(program, b"x" * 1001)[0] == 413
    assert len(form(program, b"&".join([b"a"] * 20))[1]) == 20 and form(program, b"&".join([b"a"] * 21)) == (413, [])
    assert form(program, b"&" * 10_000) == (200, [])


def test_forms_are_fuzzed(program: Program) -> None:
    """Malformed forms are parsed as by Python, and so are forms that Python writes."""
    dice = random.Random(SEED)
    pieces = [b"a", b"b", b"=", b"&", b"+", b"%", b"%4", b"%41", b"%00", b"%fF", b"\xff", b";", b" ", b"\r\n", b"%%41",
              b"a=b&"]
    for _ in range(300):
        body = b"".join(dice.choices(pieces, k=dice.randrange(25)))
        read = parse_qsl(body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
        expected = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in read]
        assert form(program, body) == (200, expected), f"seed {SEED}: {body!r}"
        pairs = [(dice.randbytes(dice.randrange(9)), dice.randbytes(dice.randrange(9)))
                 for _ in range(dice.randrange(1, 9))]
        assert form(program, urlencode(pairs).encode()) == (200, pairs)
