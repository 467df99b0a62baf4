# SPDX-License-Identifier: Apache-2.0
"""Reads and writes lines of the protocol, with percent-encoding."""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import BinaryIO
from urllib.parse import quote, unquote

from lab_kit.errors import UsageError

LINE_MAX = 65_536
"""The maximum length of a line in bytes, without its LF."""

_ARGUMENT = re.compile(r"([a-z][a-z0-9_]*)=((?:[A-Za-z0-9\-._~/:,+]|%[0-9A-Fa-f]{2})*)")
_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)


def read_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yields each line without its LF, and None for a line that is too long."""
    while line := stream.readline(LINE_MAX + 1):
        if line.endswith(b"\n"):
            yield line[:-1]
        elif len(line) <= LINE_MAX:  # the last line, which has no LF
            yield line
        else:
            while line and not line.endswith(b"\n"):
                line = stream.readline(LINE_MAX)
            yield None


def parse(line: bytes | None) -> tuple[str, dict[str, str]]:
    """Splits a line into its verb and its decoded arguments. If a key is repeated, its first value
    is used.

    A value that is not UTF-8 is decoded like a file name (`os.fsdecode`).
    """
    if line is None:
        raise UsageError(f"the line is longer than {LINE_MAX} bytes")
    verb, *words = line.decode("utf-8", "replace").split(" ")
    arguments: dict[str, str] = {}
    for number, word in enumerate(words, 1):
        match = _ARGUMENT.fullmatch(word)
        if match is None:
            raise UsageError(f"argument {number} is not key=value, percent-encoded")
        key, value = match.groups()
        arguments.setdefault(key, unquote(value, errors="surrogateescape"))
    return verb, arguments


def text(arguments: Mapping[str, str], key: str) -> str:
    """Returns the argument `key`."""
    try:
        return arguments[key]
    except KeyError:
        raise UsageError(f"the argument {key} is missing") from None


def integer(arguments: Mapping[str, str], key: str, least: int, most: int) -> int:
    """Returns the argument `key` as a decimal integer from `least` to `most`."""
    value = text(arguments, key)
    if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
        raise UsageError(f"{key} is not a whole number from {least} to {most}")
    return int(value)


def decimal(value: float) -> str:
    """Returns the shortest decimal representation of a number, without an exponent."""
    return format(Decimal(repr(value)), "f")


def ranges(numbers: Iterable[int]) -> str:
    """Formats ascending numbers, with consecutive numbers as a range, such as `3,17-19`. Returns `none` if
    there are no numbers."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return ",".join(str(first) if first == last else f"{first}-{last}"
                    for first, last in found) or "none"


def reply(verb: str, arguments: Mapping[str, object]) -> bytes:
    """Returns a reply as a line with its LF. Raises ValueError if the line is too long for the
    protocol."""
    words = (f" {key}={quote(str(value), safe='/:,+', errors='surrogateescape')}"
             for key, value in arguments.items())
    line = f"@lab {verb}{''.join(words)}\n".encode("ascii")
    if len(line) > LINE_MAX + 1:
        raise ValueError(f"the reply would be longer than {LINE_MAX} bytes; perform fewer operations")
    return line
