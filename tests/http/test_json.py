# SPDX-License-Identifier: Apache-2.0
"""Valid and invalid JSON (RFC 8259), in orders that are echoed."""

import json
from typing import Any

import pytest

from client import Answer
from servers import Server
from test_bodies import DOCUMENT, MAX_BODY, ORDER

PLAIN = json.dumps(DOCUMENT, separators=(",", ":"))


def order(remark: str = '"x"', discount: str = "1.5", id_: str = "4711") -> str:
    """Returns an order in which these values are written in this way."""
    document = {**DOCUMENT, "remark": "<remark>", "discount": "<discount>", "id": "<id>"}
    return (json.dumps(document).replace('"<remark>"', remark).replace('"<discount>"', discount).replace('"<id>"', id_))


def echo(server: Server, text: str | bytes) -> Answer:
    return server.post("/api/echo", text.encode() if isinstance(text, str) else text, "Content-Type: application/json")


@pytest.mark.parametrize("written, value", [
    (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'), (r'"\u0041\u00e9\u20AC\uFFFF"', "A\u00e9\u20ac\uffff"), (r'"\ud83d\ude00"', "\U0001f600"),
    (r'"\uDBFF\uDFFF"', "\U0010ffff"), ('"\u00e9\u20ac\U0001f600"', "\u00e9\u20ac\U0001f600"), ('"\x7f\u0080\u2028"', "\x7f\u0080\u2028"),
    (r'"\u0000\u001f"', "\0\x1f"), ('""', ""), ('"' + "x" * 60_000 + '"', "x" * 60_000), (r'"\\u0041"', r"\u0041"),
    ('"</script>"', "</script>"), ('"<&>\'"', "<&>'")], ids=lambda value: ascii(value)[:30])
def test_texts(server: Server, written: str, value: str) -> None:
    """Tests strings (RFC 8259 7)."""
    answer = echo(server, order(remark=written))
    if r"\u0000" in written and not server.promises:
        assert answer.status in (200, 400)
    else:
        assert answer.status == 200 and answer.json["remark"] == value


@pytest.mark.parametrize("written", ["0", "-0", "1", "-1", "1.5", "-1.5e3", "1E2", "1e+2", "1e-2", "0.1", "0.30000000000000004", "1e-300",
                                     "1.7976931348623157e308", "5e-324", "123456789012345680000", "0.000001", "0e5", "1.0000000000000000000001",
                                     "3.141592653589793238462643383279502884197169399375105820974944592307816406286"])
def test_numbers(server: Server, written: str) -> None:
    """RFC 8259 6: the echoed number is the same binary64."""
    answer = echo(server, order(discount=written))
    assert answer.status == 200 and float(answer.json["discount"]) == float(written)


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**53, -(2**53)])
def test_whole_numbers(server: Server, number: int) -> None:
    assert echo(server, order(id_=str(number))).json["id"] == number


@pytest.mark.promised
@pytest.mark.parametrize("number", [2**53 + 1, 2**63 - 1, -(2**63)])
def test_whole_numbers_of_64_bits(server: Server, number: int) -> None:
    assert echo(server, order(id_=str(number))).json["id"] == number


@pytest.mark.parametrize("text, value", [
    (json.dumps(DOCUMENT, indent=4), DOCUMENT), (" \t\r\n" + PLAIN + " \t\r\n", DOCUMENT), (json.dumps(DOCUMENT, separators=("\t,\n", " : ")), DOCUMENT),
    (json.dumps(dict(reversed(DOCUMENT.items()))), DOCUMENT), (json.dumps(DOCUMENT, ensure_ascii=False), DOCUMENT),
    (json.dumps({**DOCUMENT, "items": []}), {**DOCUMENT, "items": []})], ids=["indented", "blanks around", "blanks between", "in another order",
                                                                              "in UTF-8", "an empty list"])
def test_documents(server: Server, text: str, value: Any) -> None:
    answer = echo(server, text)
    assert answer.status == 200 and answer.json == value


NOT_JSON = {
    "nothing": "", "a blank": " ", "a word": "order", "a single quote": PLAIN.replace('"', "'"), "a comma at the end": PLAIN[:-1] + ",}",
    "a comma at the beginning": "{," + PLAIN[1:], "no comma": PLAIN.replace(",", " ", 1), "no colon": PLAIN.replace(":", " ", 1),
    "a semicolon": PLAIN.replace(",", ";", 1), "not closed": PLAIN[:-1], "closed twice": PLAIN + "}", "closed otherwise": PLAIN[:-1] + "]",
    "two documents": PLAIN + PLAIN, "text behind it": PLAIN + " x", "NUL behind it": PLAIN + "\0", "a comment": "/**/" + PLAIN, "a name without quotes": PLAIN.replace('"id"', "id"),
    "a form feed": "\f" + PLAIN, "a no-break space": "\u00a0" + PLAIN, "a comma in a list": PLAIN.replace('"items":[', '"items":[,'),
    **{f"the number {number}": order(discount=number) for number in (
        "01", "-01", "+1", "1.", ".5", "-", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "1_000", "1,5", "--1", "1.5.5", "\uff11", "1e5.5")},
    **{f"the word {word}": order(remark=word) for word in ("TRUE", "nul", "True", "None", "undefined", "x", "true1")},
    **{f"the text {ascii(text)}": order(remark=text) for text in (
        '"', '"a', 'a"', '"\n"', '"\t"', '"\0"', '"\x1f"', r'"\x41"', r'"\a"', r'"\u12"', r'"\u12g4"', r'"\u"', '"\\', r'"\U00000041"', r'"\u+041"',
        '"a""b"', "'a'", '"a" "b"', r'"\ "', '"\\\n"')},
}


@pytest.mark.parametrize("text", NOT_JSON.values(), ids=[ascii(name) for name in NOT_JSON])
def test_what_is_not_json(server: Server, text: str) -> None:
    assert echo(server, text).status == 400


@pytest.mark.parametrize("text", [b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\x80", b"\xf8\x88\x80\x80\x80"])
def test_what_is_not_utf_8(server: Server, text: bytes) -> None:
    """Tests invalid UTF-8 (RFC 8259 8.1). Some servers replace it by U+FFFD; none echoes it."""
    answer = echo(server, order(remark='"<here>"').encode().replace(b"<here>", text))
    assert answer.status == 400 or not server.promises and answer.status == 200
    answer.body.decode("utf-8")


@pytest.mark.parametrize("text", [
    "\ufeff" + PLAIN, order(remark=r'"\ud800"'), order(remark=r'"\udc00x"'), order(remark=r'"\ud83d\u0041"'), order(discount="1e400"),
    order(discount="-1e999999999999999999999"), order(discount="1" * 5000), order(id_="9223372036854775808"), order(id_="1" * 5000), order(id_="1.5"),
    PLAIN[:-1] + ',"id":5}', PLAIN[:-1] + ',"other":{"a":[1,{"b":null}]}}', order(remark="5"), order(remark="null"), "[]", "{}", "5", '"x"', "null",
    PLAIN.replace('"id"', r'"\u0069d"'), PLAIN[:-1] + ',"":1}'], ids=lambda text: ascii(text)[-40:])
def test_what_may_be_taken(server: Server, text: str) -> None:
    """RFC 8259 lets a parser accept or reject these texts, or they are valid JSON but not an order. The response is
    JSON, or a rejection."""
    answer = echo(server, text)
    assert answer.status in (200, 400)
    if answer.status == 200:
        assert isinstance(answer.json, object)


@pytest.mark.parametrize("text", [
    "[" * MAX_BODY, '{"a":' * (MAX_BODY // 5), "[" * (MAX_BODY // 2) + "]" * (MAX_BODY // 2), PLAIN[:-1] + ',"x":' + "[" * 30_000 + "]" * 30_000 + "}",
    PLAIN[:-1] + "," + ",".join(f'"{i}":{i}' for i in range(5000)) + "}", '{"items":[' + "{}," * 20_000, '"' + "\\" * (MAX_BODY - 2) + '"',
    '"' + r"\u0000" * 10_000 + '"', "[" + "0," * 32_000 + "0]", PLAIN.replace('"tags":["t0"', '"tags":["t0"' + ',""' * 21_000)],
    ids=["open lists", "open objects", "nested lists", "a nested member", "many members", "many items", "backslashes", "escapes", "many numbers", "many tags"])
def test_documents_that_are_heavy(server: Server, text: str) -> None:
    """Deep and long documents do not crash the server, and take little time."""
    assert len(text) <= MAX_BODY
    assert echo(server, text).status in (200, 400, 413)
    server.must_serve()
