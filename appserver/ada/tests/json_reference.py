# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Compares Appserver.JSON with Python's json: python3 json_reference.py PATH-OF-json_copy [TEXTS [SEED]]

Generates random documents and writes them in many ways, and then damages most of the texts. Both parsers must
agree on whether each text is JSON, and on the contents of the document.
"""

import json
import random
import subprocess
import sys

DEEPEST = 64

PIECES = [
    "", "a", "hello", "é", "√", "😀", '"', "\\", "/", "\b\f\n\r\t", "\x00", "\x1f", "\x7f",
    "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff",
]
INTEGERS = [0, 1, -1, 9, 10, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [0.1, -0.1, 12.5, 1e22, 1e23, 1e-7, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308,
          123456.789, 0.30000000000000004, 9007199254740993.0, 4.35, 1e15, 1e16, 999999.999999]
DAMAGE = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"0", b"-", b".", b"e", b"+", b"\xc3", b"\x80",
          b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\\ud800", b"\\udc00", b"\\u12",
          b"\\x", b"\x00", b"\x1f", b"\x7f", b"\t", b"\xef\xbb\xbf", b"true", b"nul", b"NaN",
          b"Infinity", b"//", b"'", b"01", b"1.", b".5", b"1e", b" "]


def text(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(5)))


def value(rng, depth=0):
    kind = rng.randrange(9 if depth < 5 else 6)
    match kind:
        case 0:
            return text(rng)
        case 1:
            return rng.choice(INTEGERS) if rng.random() < 0.5 else rng.randrange(-(10**6), 10**6)
        case 2:
            return rng.choice(FLOATS)
        case 3:
            exact = rng.randrange(-(10 ** rng.randrange(1, 18)), 10 ** rng.randrange(1, 18))
            return exact / 10 ** rng.randrange(1, 30)
        case 4:
            return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)
        case 5:
            return rng.choice([True, False, None])
        case 6 | 7:
            return {text(rng): value(rng, depth + 1) for _ in range(rng.randrange(5))}
        case _:
            return [value(rng, depth + 1) for _ in range(rng.randrange(5))]


def written(rng, document):
    """Returns JSON for the document, in one of the ways that the grammar allows."""
    plain = json.dumps(
        document,
        ensure_ascii=rng.random() < 0.5,
        indent=rng.choice([None, None, 1, "\t"]),
        separators=rng.choice([(",", ":"), (", ", ": "), (" ,\r\n", " :\t")]),
    )
    if rng.random() < 0.2:
        plain = plain.replace("/", "\\/").replace("E", "e")
    return (rng.choice(["", " ", "\n"]) + plain + rng.choice(["", "\t", "\r\n "])).encode()


def damaged(rng, source):
    result = bytearray(source)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(result) + 1)
        match rng.randrange(5):
            case 0:
                del result[place : place + rng.randrange(1, 5)]
            case 1:
                result[place:place] = rng.choice(DAMAGE)
            case 2:
                result[place : place + 1] = rng.choice(DAMAGE)
            case 3:
                result[place : place + 1] = bytes([rng.randrange(256)])
            case _:
                del result[place:]
    return bytes(result)


class Pairs(list):
    """Returns an object with its members in order, including repeated members."""


def refuse(word):
    raise ValueError(word)


def encodable(document):
    """Raises an error if a document contains an unpaired surrogate. Python accepts these, but RFC
    8259, section 8.2, warns about them."""
    if isinstance(document, str):
        document.encode()
    elif isinstance(document, tuple | list):
        for part in document:
            encodable(part)


def parsed(source):
    result = json.loads(source.decode(), parse_constant=refuse, object_pairs_hook=Pairs)
    encodable(result)
    return result


def largest(document):
    """Returns whether the document has a number that is too large for one of the parsers."""
    if isinstance(document, tuple | list):
        return any(largest(part) for part in document)
    if isinstance(document, float):
        return document in (float("inf"), float("-inf"))
    return isinstance(document, int) and not -(2**63) <= document < 2**63


def depth(document):
    if isinstance(document, Pairs):
        return 1 + max((depth(part) for _, part in document), default=0)
    if isinstance(document, list):
        return 1 + max((depth(part) for part in document), default=0)
    return 0


def same(left, right):
    if isinstance(left, tuple | list):
        return type(left) is type(right) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) or isinstance(right, float):
        return not isinstance(left, bool | str) and not isinstance(right, bool | str) and left == right
    return type(left) is type(right) and left == right


class Copier:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def copy(self, source):
        self.process.stdin.write(b"%d\n" % len(source) + source)
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode().strip()
        if line.startswith("malformed"):
            return line, None
        if not line:
            raise SystemExit(f"it ended at {source!r}")
        return None, self.process.stdout.read(int(line))

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def check(copier, source):
    refusal, copy = copier.copy(source)
    try:
        expected = parsed(source)
    except (ValueError, RecursionError) as why:
        assert refusal is not None, f"{source!r} is not JSON ({why}), and was taken as {copy!r}"
        assert 1 <= int(refusal.split()[1]) <= len(source) + 1, (source, refusal)
        return False
    if depth(expected) > DEEPEST or largest(expected):
        assert refusal is not None, source
        return False
    assert refusal is None, f"{source!r}: {refusal}"
    assert same(parsed(copy), expected), f"{source!r} became {copy!r}"
    return True


def main(path, texts="20000", seed="7"):
    rng = random.Random(int(seed))
    copier = Copier(path)
    accepted = 0
    for number in range(int(texts)):
        source = written(rng, value(rng))
        accepted += check(copier, source)
        accepted += check(copier, damaged(rng, source))
    for nested in (DEEPEST, DEEPEST + 1, 100_000):
        check(copier, b"[" * nested + b"]" * nested)
    assert copier.close() == 0
    print(f"json: {2 * int(texts)} texts, {accepted} of them JSON; Python agrees on all")


if __name__ == "__main__":
    main(*sys.argv[1:])
