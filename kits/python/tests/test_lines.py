# SPDX-License-Identifier: Apache-2.0
"""Tests how lines are read, split and written."""

import io
from collections.abc import Iterable

import pytest

from lab_kit import lines
from lab_kit.errors import UsageError


@pytest.mark.parametrize("content, expected", [
    (b"", []),
    (b"\n", [b""]),
    (b"a\r\n\nb", [b"a\r", b"", b"b"]),
    (b"x" * 65_536 + b"\na\n", [b"x" * 65_536, b"a"]),
    (b"x" * 65_537 + b"\na\n", [None, b"a"]),
    (b"x" * 300_000 + b"\na\n", [None, b"a"]),
    (b"x" * 65_536, [b"x" * 65_536]),
    (b"x" * 65_537, [None]),
    (b"x" * 131_073 + b"\n", [None]),
])
def test_read_lines(content: bytes, expected: list[bytes | None]) -> None:
    assert list(lines.read_lines(io.BytesIO(content))) == expected


def test_parse_decodes_values_and_keeps_the_first_of_a_key() -> None:
    assert lines.parse(b"open a=%41%2b+ b_1= a=2 c=%c3%A9%ff") == (
        "open", {"a": "A++", "b_1": "", "c": "\u00e9\udcff"})


@pytest.mark.parametrize("line", [
    None, b"open a", b"open  a=1", b"open =1", b"open A=1", b"open 1a=1", b"open a=%", b"open a=%4",
    b"open a=%zz", b"open a=b=c", b"open a=\xff", b"open a=\xc2\xb2", b"open a=1\r",
])
def test_parse_refuses(line: bytes | None) -> None:
    with pytest.raises(UsageError):
        lines.parse(line)


def test_a_reply_is_read_back_as_it_was_written() -> None:
    every_byte = "".join(map(chr, range(1, 256))) + "\udcff"
    written = lines.reply("opened", {"a": every_byte, "b": 7})
    assert written.startswith(b"@lab opened a=") and written.endswith(b" b=7\n")
    assert lines.parse(written.removeprefix(b"@lab ").removesuffix(b"\n")) == (
        "opened", {"a": every_byte, "b": "7"})


def test_a_reply_encodes_in_upper_case_what_does_not_stand_for_itself() -> None:
    assert lines.reply("opened", {"a": "aZ09-._~/:,+ %=\u00fc"}) == (
        b"@lab opened a=aZ09-._~/:,+%20%25%3D%C3%BC\n")


@pytest.mark.parametrize("numbers, expected", [
    ([], "none"), ([0], "0"), ([3, 17, 18, 19], "3,17-19"), ([1, 2, 4, 6, 7], "1-2,4,6-7"),
    (range(10**6), "0-999999")])
def test_ranges(numbers: Iterable[int], expected: str) -> None:
    assert lines.ranges(numbers) == expected


def test_a_reply_has_as_many_bytes_as_a_line_may() -> None:
    room = lines.LINE_MAX - len("@lab opened a=")
    assert len(lines.reply("opened", {"a": "x" * room})) == lines.LINE_MAX + 1
    with pytest.raises(ValueError, match="fewer operations"):
        lines.reply("opened", {"a": "x" * (room + 1)})


@pytest.mark.parametrize("value", ["", "-1", "+1", " 1", "1_0", "0x1", "1.0", "11", "\u0661",
                                   "9" * 5000])
def test_integer_refuses(value: str) -> None:
    with pytest.raises(UsageError):
        lines.integer({"n": value}, "n", 0, 10)


def test_integer_takes_both_ends_of_its_range() -> None:
    assert lines.integer({"n": "0"}, "n", 0, 10) == 0
    assert lines.integer({"n": "10"}, "n", 0, 10) == 10
    with pytest.raises(UsageError):
        lines.integer({}, "n", 0, 10)
