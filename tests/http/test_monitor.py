# SPDX-License-Identifier: Apache-2.0
"""The monitor in appserver/ada/tests/monitor/watched_server.adb: its metrics, read by other parsers."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from client import Answer, Connection, request
from experiments import ROOT
from servers import free_port
from test_examples import Example
from test_behind_proxy import NGINX, WITHIN_S

PROGRAM = ROOT / "build/appserver/ada/tests/monitor/watched_server"
PAGE = "GET /articles/{id}"
QUERY = "SELECT name FROM article WHERE id = ?"


@pytest.fixture
def shop() -> Iterator[Example]:
    if not PROGRAM.exists():
        raise FileNotFoundError(f"{PROGRAM} is missing; build it with\nmake -C appserver/ada http_programs")
    server = Example(str(PROGRAM), 0)
    server.figures_port = urlsplit(server.process.stdout.readline().strip()).port
    for path, status in [("/articles/1", 200)] * 5 + [("/articles/2", 200), ("/articles/3", 404), ("/broken", 500), ("/no", 404)]:
        assert server.ask("GET", path).status == status
    yield server
    assert server.close() == 0


def figures_of(shop: Example, path: str, *headers: str) -> Answer:
    """Sends a request to the monitor's port."""
    with Connection(("127.0.0.1", shop.figures_port)) as connection:
        return connection.send(request("GET", path, *headers)).answer()


@pytest.mark.parametrize("field", ["", "proxy_set_header X-Real-IP $remote_addr;", "proxy_set_header Host $host;"])
def test_nothing_is_shown_behind_a_proxy(shop: Example, tmp_path: Path, field: str) -> None:
    """nginx in front of the application with only proxy_pass, so that the application cannot know that there is
    a proxy."""
    temporary = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    port = free_port()
    (tmp_path / "nginx.conf").write_text(
        f"daemon off;\npid {tmp_path}/pid;\nerror_log {tmp_path}/error.log;\nevents {{ }}\nhttp {{\naccess_log off;\n{temporary}"
        f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{shop.port}; {field} }} }}\n}}\n")
    nginx = subprocess.Popen([NGINX, "-e", tmp_path / "error.log", "-p", tmp_path, "-c", tmp_path / "nginx.conf"])
    try:
        limit = time.monotonic() + WITHIN_S
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            assert nginx.poll() is None and time.monotonic() < limit, (tmp_path / "error.log").read_text()
            time.sleep(0.01)
        for path in ("/monitor", "/monitor/page", "/monitor/metrics", "/monitor/json"):
            with Connection(("127.0.0.1", port)) as connection:
                answer = connection.send(request("GET", path)).answer()
            assert answer.status == 404 and PAGE.encode() not in answer.body
    finally:
        nginx.terminate()
        nginx.wait(timeout=WITHIN_S)


def test_json(shop: Example) -> None:
    figures = figures_of(shop, "/monitor").json
    assert (figures["monitor"], figures["application"], figures["bucket_width"]) == (1, "shop", 1 / 32)
    assert 0 <= figures["now_unix_s"] - figures["started_unix_s"] < 3600
    pages = {page["name"]: page for page in figures["pages"]}
    # The pool opens its connections in a separate task.
    opening = pages.pop("(no request)")
    assert "INSERT INTO article VALUES (?, ...), (?, ...)" in {query["name"] for query in opening["queries"]}
    assert {name: page["count"] for name, page in pages.items()} == {PAGE: 7, "GET /broken": 1, "(other)": 1}
    assert (pages["GET /broken"]["errors"], pages[PAGE]["errors"], pages[PAGE]["client_errors"]) == (1, 0, 1)
    for item in [*pages.values(), *(query for page in pages.values() for query in page["queries"])]:
        assert sum(count for _, count in item["times"]) == item["count"]
        assert [upper for upper, _ in item["times"]] == sorted({upper for upper, _ in item["times"]})
        assert item["times"][-1][0] >= item["max_ns"] > 0
        highest = [upper.bit_length() - 1 for upper, _ in item["times"]]
        assert all(top < 5 or ((upper >> (top - 5)) + 1 << (top - 5)) - 1 == upper
                   for (upper, _), top in zip(item["times"], highest))
    assert sum(count for _, count, _, _ in pages[PAGE]["hours"]) == 7
    assert all(start % 3600 == 0 for start, *_ in pages[PAGE]["hours"])
    queries = {query["name"]: query["count"] for query in pages[PAGE]["queries"]}
    assert queries[QUERY] == 7
    slowest = pages[PAGE]["slowest"]
    assert [slow["ns"] for slow in slowest] == sorted((slow["ns"] for slow in slowest), reverse=True)
    assert slowest[0]["ns"] == pages[PAGE]["max_ns"]
    assert all(slow["path"].startswith("/articles/") and QUERY in {part["name"] for part in slow["queries"]} for slow in slowest)


def test_prometheus(shop: Example) -> None:
    text = figures_of(shop, "/monitor", "Accept: text/plain;version=0.0.4").body.decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert {name.removeprefix("appserver_monitor_"): family.type for name, family in families.items()} == {
        "page_seconds": "histogram", "page_errors": "counter", "page_client_errors": "counter", "page_cpu_seconds": "counter",
        "queries": "counter", "query_errors": "counter", "query_seconds": "counter"}

    def values(metric: str, **labels: str) -> list[float]:
        return [sample.value for family in families.values() for sample in family.samples
                if sample.name == f"appserver_monitor_{metric}" and sample.labels.items() >= labels.items()]

    assert values("page_seconds_count", page=PAGE) == [7]
    buckets = values("page_seconds_bucket", page=PAGE)
    assert buckets == sorted(buckets) and buckets[-1] == 7
    assert values("page_errors_total", page="GET /broken") == [1]
    assert values("queries_total", page=PAGE, query=QUERY) == [7]
    assert values("query_seconds_total", page=PAGE, query=QUERY) < values("page_seconds_sum", page=PAGE)


def test_page_has_the_figures(shop: Example) -> None:
    page = figures_of(shop, "/monitor", "Accept: text/html,*/*;q=0.8")
    assert page.get("Content-Type") == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.get("Content-Security-Policy")
    inside = page.body.decode().split('<script type="application/json" id="figures">')[1].split("</script>")[0]
    assert any(each["name"] == PAGE for each in json.loads(inside)["pages"])
    assert b"http:" not in page.body and b"https:" not in page.body, "the page must not load anything from another host"


def test_script_of_the_page(shop: Example, tmp_path: Path) -> None:
    """Node parses the script of the page. A browser test checks the drawn charts."""
    script = figures_of(shop, "/monitor/page").body.decode().split("<script>")[1].split("</script>")[0]
    (tmp_path / "page.js").write_text(script)
    subprocess.run(["node", "--check", tmp_path / "page.js"], check=True)
