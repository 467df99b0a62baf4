# SPDX-License-Identifier: Apache-2.0
"""No recursion, and no object on the stack that grows with a client's data, according to GCC's information on each
subprogram of the HTTP library (-fcallgraph-info=su,da). This information does not contain the targets of calls by
access values and of dispatching calls."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CRATES = ROOT / "appserver" / "ada"
LIBRARY = tuple(CRATES / crate / "src" for crate in ("core", "http", "http_compression", "http_tls", "ip", "json"))
OUTPUT = ROOT / "build" / "tests" / "stack"
# Generics are compiled where they are instantiated: those of REST, of JSON.Objects and of Embedded are
# instantiated here.
INSTANCES = [CRATES / "tests" / "http" / "shop.adb", ROOT / "experiments" / "rest" / "ada" / "orders.adb",
             CRATES / "tests" / "http" / "counted_device.adb"]
# Compiled as by a user, except that each subprogram is separate and calls what its source calls.
SWITCHES = ["-fcallgraph-info=su,da", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-icf", "-fno-optimize-sibling-calls"]
NODE = re.compile(r'^node: \{ title: "([^"]*)" label: "([^"]*)"', re.MULTILINE)
EDGE = re.compile(r'^edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', re.MULTILINE)

# Subprograms with objects of unknown size to GCC, their number, and why none of them grows without bound.
BOUNDED = {
    "decimal images of numbers, one of some literals, octets of an address": {
        "documents.append_xml.2": 1, "http.access_logs.add_field": 2, "http.access_logs.add_request": 3,
        "http.access_logs.append_number": 1, "http.access_logs.escape": 2, "http.cookies.image": 1, "http.dates.c_value": 1,
        "http.files.image": 1, "http.linux.accept_connection": 1, "http.proxies.found": 1, "http.rest.allow_of": 5,
        "ip_addresses.decimal": 1, "ip_addresses.from_octets": 1, "json.writers.write": 1, "json.writers.write.4": 1,
        "json.writers.write_name": 1},
    "at most JSON.Writers.Short bytes, or Numerals.Max_Fraction_Length": {
        "json.writers.append_text": 1, "numerals.convert_exactly": 1},
    "a text as long as its source, which the application limits or else reads with the procedure": {"json.readers.next_text.2": 1},
    "a part of a request's header, at most Limits.Header bytes: Server.Stack_Of has room for two": {
        "http.channels.websockets.chosen_protocol": 1, "http.channels.websockets.is_allowed_origin": 1,
        "http.files.open_below": 2, "http.files.redirected": 1, "http.joined": 1, "http.line": 3,
        "http.multipart.start": 1, "http.report_on_standard_error": 1},
    "the argument: a part of a header from the library, or a text from a handler, for which Handler_Stack must have room": {
        "http.decoded": 1, "http.rest.read_decoded": 1},
    "paths, addresses and names that the application passes": {
        "http.access_logs.open": 2, "http.cookies.set_cookie": 5, "http.files.open": 1, "http.linux.address_of": 1,
        "http.linux.listening_socket": 1, "http.linux_listeners.lock_folder": 1, "http.linux_listeners.open_locked": 3,
        "http.linux_listeners.remove_stale": 3, "http.listeners.open_passed": 4, "http.rest.captured": 1,
        "http.tls.content_of": 4, "http.tls.fail": 1, "http.tls.load_certificate": 2, "http.tls.set": 1,
        "http.tls.set_client_policy": 1, "http.tls.warn_on_standard_error": 1, "media_ranges.closeness_of": 2},
    "patterns of routes, at most REST.Max_Pattern_Length bytes, when the application creates its service": {
        "http.rest.constant_route": 1, "http.rest.trees.add": 3, "http.rest.trees.is_for": 1},
    "an element for each loop; Settings determines their number": {
        "http.linux.wait_for_any": 2, "http.server.wait_anywhere.2": 2, "http.server.watch.2": 2},
    "an element for each listener, at most 16": {"http.server.open_loops": 1},
}


@dataclass
class Subprogram:
    """A subprogram's location, the size of its frame, its objects without a static size, and the subprograms
    that it calls."""

    place: str
    usage: str
    objects: int
    calls: set[str] = field(default_factory=set)


def short(name: str) -> str:
    """Returns the name without the file name that precedes it for subprograms that are local to a file."""
    return name.rpartition(":")[2].removeprefix("appserver__").replace("__", ".")


def read(graph: Path, found: dict[str, Subprogram], is_library: bool) -> None:
    """Adds the subprograms in a graph to `found`. Subprograms that are called but not compiled here have no
    usage."""
    text = graph.read_text()
    for name, label in NODE.findall(text):
        # Name, location, "96 bytes (dynamic)", "2 dynamic objects", the objects. The location of code that
        # the compiler adds is <built-in>.
        _, place, usage, objects, *_ = label.split("\\n") + [""] * 4
        if usage and (is_library or Path(place.partition(":")[0]).parent in LIBRARY):
            found[name] = Subprogram(Path(place).name, usage, int(objects.split()[0]))
    for caller, called in EDGE.findall(text):
        if caller in found:
            found[caller].calls.add(called)


@pytest.fixture(scope="module")
def subprograms() -> dict[str, Subprogram]:
    """Returns the library's subprograms, by the linker's names."""
    for old in OUTPUT.glob("**/*.ci"):
        old.unlink()
    crates = ":".join(str(path.parent) for path in CRATES.glob("*/appserver*.gpr"))
    environment = {**os.environ, "GPR_PROJECT_PATH": crates, "APPSERVER_OUTPUT": f"{OUTPUT}/"}
    for crate in ("http_compression", "http_tls"):
        project = CRATES / crate / f"appserver_{crate}.gpr"
        subprocess.run(["gprbuild", "-q", "-p", "-f", "-c", "-P", project, "-cargs", *SWITCHES], env=environment, check=True)
    found: dict[str, Subprogram] = {}
    for graph in OUTPUT.glob("obj/*/*.ci"):
        read(graph, found, is_library=True)
    folders = [*LIBRARY, *(source.parent for source in INSTANCES)]
    for source in INSTANCES:
        subprocess.run(["gcc", "-c", "-gnat2022", "-gnatW8", "-O2", "-gnatn2", "-fstack-check", *SWITCHES,
                        *(f"-I{folder}" for folder in folders), source], cwd=OUTPUT, check=True)
        read(OUTPUT / f"{source.stem}.ci", found, is_library=False)
    return found


def circles(subprograms: dict[str, Subprogram]) -> list[list[str]]:
    """Returns the groups of subprograms that call each other, and the subprograms that call themselves (R. Tarjan, SIAM
    Journal on Computing 1, 1972)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    groups: list[list[str]] = []

    def visit(root: str) -> None:
        work = [(root, iter(sorted(subprograms[root].calls)))]
        numbers[root] = lowest[root] = len(numbers)
        waiting.append(root)
        while work:
            name, calls = work[-1]
            for called in calls:
                if called not in subprograms:
                    continue
                if called not in numbers:
                    numbers[called] = lowest[called] = len(numbers)
                    waiting.append(called)
                    work.append((called, iter(sorted(subprograms[called].calls))))
                    break
                if called in waiting:
                    lowest[name] = min(lowest[name], numbers[called])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[name])
                if lowest[name] == numbers[name]:
                    at = waiting.index(name)
                    group, waiting[at:] = waiting[at:], []
                    if len(group) > 1 or name in subprograms[name].calls:
                        groups.append(sorted(group))

    for name in subprograms:
        if name not in numbers:
            visit(name)
    return groups


def test_all_of_the_library_is_looked_at(subprograms: dict[str, Subprogram]) -> None:
    files = {sub.place.split(":")[0] for sub in subprograms.values()}
    unseen = {path.name for folder in LIBRARY for path in folder.glob("*.adb")} - files
    assert len(subprograms) > 1000 and unseen == set(), unseen


def test_nothing_calls_itself(subprograms: dict[str, Subprogram]) -> None:
    assert [[short(name) for name in group] for group in circles(subprograms)] == []


def test_no_frame_grows_with_input(subprograms: dict[str, Subprogram]) -> None:
    allowed = {name: objects for group in BOUNDED.values() for name, objects in group.items()}
    growing = [f"{sub.place}: {short(name)}: {sub.usage}, {sub.objects} objects" for name, sub in subprograms.items()
               if "(dynamic)" in sub.usage and sub.objects > allowed.get(short(name), -1)]
    assert sorted(growing) == []
    assert allowed.keys() <= {short(name) for name in subprograms}
