# SPDX-License-Identifier: Apache-2.0
"""Random and damaged requests, answered by the profiles and by Go's net/http: the same class of status, the same
content, and no more resources in use at the end than at the beginning. --attack-for sets the duration,
BENCHLAB_FUZZ_SEED the seed."""

import json
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import servers
from attack import Size, resources_of, must_hold_no_more
from client import Answer, Malformed, NoAnswer
from servers import Server, Target
from test_bodies import CHUNKED, END, ORDER, chunks, post
from test_http_fuzz import SEED, mutated
from wellformed import is_well_formed

PATHS = ["/api", "/api/built?number=17", "/api/built?number=x", "/api/built?number=%31", "/api/built?a=b|c&number=9",
         "/api/built?q={x}&number=1", "/api/built?number=5&x=100%25", "/api/built?q=\xc3\xa9&number=3", "/api/hello/Ada%20B",
         "/api/hello/A%3CB", "/api/hello/A.B", "/files/64k.bin", "/files/one.bin", "/files/empty.bin", "/files/none", "/nothing", "/a|b",
         "http://localhost/api", "/files/a%20name.bin", "/files/100%25.bin"]
MIN_COMPARED = 10
"""The number of compared requests, even if the machine is so busy that this takes longer."""

REFUSALS = (400, 414, 417, 431, 501, 505)
"""Statuses that reject a message itself."""

FIELDS = ["Accept: */*", "Accept: application/json", "X: y", "X:", "X: \t a b \t", "Cookie: a=b; c=d", "User-Agent: " + "u" * 500,
          "Accept-Encoding: identity", "Connection: keep-alive", "Range: bytes=0-0", "Range: bytes=5-", "Range: bytes=-3",
          "Range: bytes=99999999-", "If-Modified-Since: Wed, 06 Nov 2019 08:49:37 GMT",
          "If-Modified-Since: Wed, 06 Nov 2199 08:49:37 GMT", "If-Unmodified-Since: Wed, 06 Nov 2019 08:49:37 GMT"]

FIELD_LINES = {field.encode("latin-1") for field in FIELDS}
BODIES = (ORDER, ORDER[:-1], b"", b"[", b"{}x")


def well_formed(dice: random.Random) -> bytes:
    """Returns requests for which the RFCs leave servers no choice."""
    fields = list({field.split(":")[0]: field.encode("latin-1") for field in dice.sample(FIELDS, dice.randrange(4))}.values())
    if dice.random() < 0.3:
        body = dice.choice(BODIES)
        if dice.random() < 0.5:
            cut = dice.randrange(1, len(body)) if len(body) > 1 else 0
            return post(CHUNKED, *fields, body=chunks(*[piece for piece in (body[:cut], body[cut:]) if piece]) + END)
        return post(b"Content-Length: %d" % len(body), *fields, body=body)
    method, path = dice.choice(("GET", "GET", "HEAD")), dice.choice(PATHS)
    if method == "HEAD" or "empty" in path:  # unlike RFC 9110 14.2, Go accepts ranges of HEAD, but none of an empty file
        fields = [field for field in fields if not field.startswith(b"Range")]
    lines = [f"{method} {path} HTTP/1.1".encode("latin-1"), b"Host: localhost", *fields]
    return b"\r\n".join([*lines, b"", b""])


def first_answer(server: Server, sent: bytes) -> Answer | None:
    """Returns None if the server closes the connection without a response, as after an incomplete request."""
    method = sent.split(b" ", 1)[0].decode("latin-1")
    with server.connect() as connection:
        connection.send(sent)
        connection.end_sending()
        try:
            return connection.answer(method if method in ("GET", "HEAD", "POST") else "GET")
        except NoAnswer:
            return None
        except Malformed:
            if server.promises:
                raise
            return None  # Go responds to 1.0 with 1.0


def content(answer: Answer) -> object:
    """Returns the content, and for JSON its value, because servers may format it differently."""
    if answer.status == 200 and (answer.get("Content-Type") or "").startswith("application/json") and answer.body:
        return json.loads(answer.body)
    return answer.body if answer.status in (200, 206) else b""


def must_be_the_same(name: str, answer: Answer | None, go_answer: Answer | None, sent: bytes) -> None:
    assert answer is not None and go_answer is not None, f"{name}: {answer}, Go {go_answer}: {sent!r}"
    assert answer.status // 100 == go_answer.status // 100, f"{name}: {answer.status}, Go {go_answer.status}: {sent!r}"
    assert content(answer) == content(go_answer), f"{name}: {sent!r}"


def must_be_refused_too(name: str, answer: Answer | None, go_answer: Answer | None, sent: bytes) -> None:
    """Checks that Go does not reject the message. If both servers respond with the same status, the content is the
    same, except for XML, which Go does not write."""
    if answer is None or go_answer is None or answer.status >= 300:
        return
    assert go_answer.status not in REFUSALS, f"{name}: {answer.status}, Go {go_answer.status}: {sent!r}"
    if answer.status == go_answer.status and sent.startswith(b"GET ") and answer.get("Content-Type") != "application/xml":
        assert content(answer) == content(go_answer), f"{name}: {sent!r}"


def compare(profiles: list[Server], oracle: Server, dice: random.Random, for_s: float) -> int:
    """Returns the number of compared requests."""
    ends = time.monotonic() + for_s
    count = 0
    while time.monotonic() < ends or count < MIN_COMPARED:
        sent = well_formed(dice)
        damaged = mutated(sent, dice)
        # Unlike RFC 9112 2.2, Go does not accept an empty line before a request.
        go_answer, go_answer_to_damaged = first_answer(oracle, sent), first_answer(oracle, re.sub(rb"^(\r\n)+", b"", damaged))
        must_hold = must_be_the_same if is_well_formed(damaged, FIELD_LINES, set(BODIES)) else must_be_refused_too
        for server in profiles:
            must_be_the_same(server.target.name, first_answer(server, sent), go_answer, sent)
            must_hold(server.target.name, first_answer(server, damaged), go_answer_to_damaged, damaged)
        count += 2
    return count


@pytest.fixture
def oracle(folder: Path) -> Iterator[Server]:
    go = {subject.name: subject for subject in servers.declared_subjects() if subject.experiment == "rest"}.get("go")
    if go is None or not (servers.ROOT / go.program[0]).exists():
        pytest.skip("the Go subject of the experiment rest is not built")
    server = servers.start(Target("go", go), folder)
    yield server
    server.close()


@pytest.fixture
def profiles(folder: Path) -> Iterator[list[Server]]:
    started = [servers.start(target, folder) for target in servers.targets() if target.promises]
    if not started:
        pytest.skip("other servers do not have to respond as Go does")
    yield started
    for server in started:
        server.close()


def test_beside_go(profiles: list[Server], oracle: Server, size: Size) -> None:
    """All well-formed requests agree; a damaged request is never accepted here if Go rejects it."""
    dice = random.Random(SEED)
    compared = compare(profiles, oracle, dice, size.random_s / 4)
    before = [resources_of(server) for server in profiles]
    compared += compare(profiles, oracle, dice, size.random_s * 3 / 4)
    for server, resources in zip(profiles, before):
        must_hold_no_more(server, resources)
    print(f"{compared} requests compared, from seed {SEED} on")
