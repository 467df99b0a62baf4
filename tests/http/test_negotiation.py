# SPDX-License-Identifier: Apache-2.0
"""The rest profile writes documents as JSON or XML, as the client prefers; RFC 9110 12."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from client import Answer, request
from servers import Server, Target
from test_bodies import DOCUMENT, ORDER


@pytest.fixture(autouse=True)
def negotiates(target: Target) -> None:
    if target.name != "ada-rest":
        pytest.skip("this server always responds with JSON")


def form(answer: Answer) -> str:
    """Returns JSON or XML; the content type of the response must match its content."""
    media_type = answer.get("Content-Type").partition(";")[0]
    if media_type == "application/json":
        assert answer.json["greeting"] == "Hello World!"
        return "JSON"
    assert media_type == "application/xml"
    assert ElementTree.fromstring(answer.body).findtext("greeting") == "Hello World!"
    return "XML"


@pytest.mark.parametrize("accept, expected", [
    (None, "JSON"), ("*/*", "JSON"), ("application/json", "JSON"), ("application/xml", "XML"), ("application/*", "JSON"),
    ("APPLICATION/XML", "XML"), ("application/xml;q=0.9, application/json;q=0.8", "XML"), ("application/xml;q=0.8,application/json", "JSON"),
    ("application/xml, */*;q=0.1", "XML"), ("application/json;q=0, */*", "XML"), ("application/json;q=0.0,application/xml;q=0.001", "XML"),
    ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", "XML"), (" , application/xml ,, ", "XML"),
    ("application/xml ; q=1", "XML"), ("application/xml;Q=1.000", "XML"), ("application/*;q=0.5, application/json;q=0.1", "XML"),
    ("text/html, application/json;q=0.1", "JSON"), ("application/xml;q=0.5, */*", "JSON")])
def test_the_client_chooses(server: Server, accept: str | None, expected: str) -> None:
    """RFC 9110 12.5.1: for each format the most specific range applies."""
    headers = [] if accept is None else [f"Accept: {accept}"]
    answer = server.get("/api", *headers)
    assert answer.status == 200 and form(answer) == expected
    assert "accept" in answer.words("Vary"), "12.5.5: caches need to know that the response depends on Accept"
    head = server.get("/api", *headers, method="HEAD")
    assert head.get("Content-Type") == answer.get("Content-Type") and "accept" in head.words("Vary")


def test_accept_in_two_lines(server: Server) -> None:
    assert form(server.get("/api", "Accept: text/html", "Accept: application/xml")) == "XML"


@pytest.mark.parametrize("accept", ["text/html", "image/*", "*/*;q=0", "application/json;q=0, application/xml;q=0.000", "application/pdf, text/plain"])
def test_what_it_does_not_have(server: Server, accept: str) -> None:
    """RFC 9110 15.5.7; the server may also ignore the field."""
    answer = server.get("/api", f"Accept: {accept}")
    assert answer.status in (200, 406)
    if answer.status == 406:
        assert "accept" in answer.words("Vary")


@pytest.mark.parametrize("accept", ["", "x", "application/", "/json", "application/json;q=x", "application/json;q=2", "application/json;q=0.1234",
                                    "a" * 5000, "a/b," * 1000, ";", "application/json;;q=1", '*/*;a="', "*/*;a=\"\\\"", "*/xml", "application/json q=1"])
def test_a_field_that_is_malformed(server: Server, accept: str) -> None:
    assert server.get("/api", f"Accept: {accept}").status in (200, 400, 406)
    server.must_serve()


def test_an_order_as_xml(server: Server) -> None:
    with server.connect() as connection:
        answer = connection.send(request("POST", "/api/echo", "Accept: application/xml", body=ORDER)).answer("POST")
        root = ElementTree.fromstring(answer.body)
        assert root.findtext("customer/name") == DOCUMENT["customer"]["name"]
        assert root.findtext("express") == "true" and root.findtext("remark") == DOCUMENT["remark"]
        assert [item.findtext("sku") for item in root.find("items")] == [item["sku"] for item in DOCUMENT["items"]]


def test_markup_is_escaped(server: Server) -> None:
    """Characters that XML does not allow are replaced by U+FFFD."""
    answer = server.get("/api/hello/A%22B'C", "Accept: application/xml")
    assert ElementTree.fromstring(answer.body).findtext("greeting") == "Hello A\"B'C!"
    remark = "<&>\"'\u0001\ufffe\U0001f600]]>"
    order = json.dumps({**DOCUMENT, "remark": remark}).encode()
    answer = server.post("/api/echo", order, "Accept: application/xml")
    assert ElementTree.fromstring(answer.body).findtext("remark") == "<&>\"'\ufffd\ufffd\U0001f600]]>"
