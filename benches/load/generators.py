# SPDX-License-Identifier: Apache-2.0
"""The load generators: how each is started, and how its report is read."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import BUILD, ROOT, Done, Failure, quantile

PEERS = ROOT / "build" / "peers" / "bin"
LAB = Path(os.environ.get("BENCHLAB", ROOT / "target" / "release" / "benchlab"))


@dataclass(frozen=True)
class Load:
    """A load, at a constant rate or as fast as possible."""

    port: int
    connections: int
    seconds: float
    rate: float | None
    folder: Path
    """A directory for the generator's files."""
    latencies: bool = False
    """True if quantiles are requested from generators for which they cost extra."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@dataclass
class Said:
    """A generator's report of a run. `None` stands for values that it does not report."""

    served: int
    errors: int = 0
    p50_s: float | None = None
    p99_s: float | None = None
    offered: int | None = None
    own_cpu_s: float | None = None
    """CPU time of the threads that generate the load, if the generator reports it."""
    send_delay_p99_s: float | None = None


class Generator:
    """A load generator. If `paced` is true, it has a constant rate."""

    name: str
    program: str
    paced = False
    quick_to_say = True
    """True if reporting quantiles costs nothing."""

    def path(self) -> str | None:
        """Returns the path of the generator's program, or `None` if it is not installed."""
        return shutil.which(self.program, path=f"{PEERS}{os.pathsep}{os.environ['PATH']}")

    def version(self) -> str:
        return ""

    def command(self, load: Load) -> list[object]:
        raise NotImplementedError

    def read(self, done: Done, load: Load) -> Said:
        raise NotImplementedError

    def said(self, done: Done, load: Load) -> Said:
        """Returns the report in the generator's output. Fails if there is none."""
        try:
            return self.read(done, load)
        except (AttributeError, KeyError, IndexError, ValueError, TypeError) as error:
            raise Failure(f"{self.name} printed unexpected output ({error!r}):\n{done.output[-500:]}") from error


def figures(path: Path) -> dict[str, float]:
    """Returns the estimates of a load in benchlab's JSON, by metric."""
    rows = json.loads(path.read_text())["rows"]
    return {row["metric"]["id"]: row["value"]["value"] for row in rows}


class Benchlab(Generator):
    """benchlab itself."""

    name, program, paced = "benchlab", "benchlab", True

    def path(self) -> str | None:
        return str(LAB) if LAB.exists() else None

    def version(self) -> str:
        return first_match(said_by(self.path(), "--version"), r"[\d.]+")

    def command(self, load: Load) -> list[object]:
        rate = [] if load.rate is None else ["--rate", f"{load.rate:g}", "--even"]
        return [self.path(), "load", load.url, "--connections", load.connections, "--for", f"{load.seconds:g}s", *rate,
                "--runs", load.folder, "--export", load.folder / "benchlab.json"]

    def read(self, done: Done, load: Load) -> Said:
        found = figures(load.folder / "benchlab.json")

        def seconds(metric: str, times: float = 1) -> float | None:
            return found[metric] * times / 1e9 if metric in found else None

        return Said(served=int(found["served"]), errors=int(found["errors"]), offered=int(found["requests"]),
                    p50_s=seconds("p50"), p99_s=seconds("p99"), own_cpu_s=seconds("generator_cpu", found["served"]),
                    send_delay_p99_s=seconds("send_delay_p99"))


class Bare(Generator):
    """The bare client. At a constant rate, it spins."""

    name, program, paced = "bare client", str(BUILD / "bare"), True

    def version(self) -> str:
        return "`benches/load/bare.c`"

    def command(self, load: Load) -> list[object]:
        rate = [] if load.rate is None else ["--rate", load.rate]
        return [self.program, "--connections", load.connections, "--for", load.seconds, *rate, load.port]

    def read(self, done: Done, load: Load) -> Said:
        said = json.loads(done.output)
        if load.rate is None:
            return Said(said["requests"])
        response = said["response"]
        return Said(said["requests"], errors=said["offered"] - said["requests"], offered=said["offered"],
                    p50_s=response["p50_ns"] / 1e9, p99_s=response["p99_ns"] / 1e9)


class Wrk(Generator):
    name = program = "wrk"

    def version(self) -> str:
        return first_match(said_by("wrk", "--version"), r"wrk (\S+)")

    def command(self, load: Load) -> list[object]:
        latencies = ["--latency"] if load.latencies else []
        return ["wrk", "-t", 1, "-c", load.connections, "-d", f"{load.seconds:g}s", *latencies, load.url]

    def read(self, done: Done, load: Load) -> Said:
        errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", done.output)
        return Said(served=int(re.search(r"(\d+) requests in", done.output)[1]),
                    errors=sum(map(int, errors.groups())) if errors else 0,
                    p50_s=with_unit(done.output, r"50%\s+([\d.]+)(us|ms|s)\b"),
                    p99_s=with_unit(done.output, r"99%\s+([\d.]+)(us|ms|s)\b"))


class Ab(Generator):
    name = program = "ab"
    MAX_REQUESTS_PER_SECOND = 300_000
    """The maximum number of requests per second. ab requires a number of requests, and ends when that
    number or the time is reached."""

    def version(self) -> str:
        return first_match(said_by("ab", "-V"), r"Version ([\d.]+)")

    def command(self, load: Load) -> list[object]:
        return ["ab", "-q", "-k", "-t", max(1, round(load.seconds)), "-n", round(self.MAX_REQUESTS_PER_SECOND * max(1, load.seconds)),
                "-c", load.connections, load.url]

    def read(self, done: Done, load: Load) -> Said:
        def after(words: str) -> float:
            return float(re.search(rf"^ *{words}\s+(\d+)", done.output, re.M)[1])

        return Said(served=int(after("Complete requests:")), errors=int(after("Failed requests:")),
                    p50_s=after("50%") / 1e3, p99_s=after("99%") / 1e3)


class H2load(Generator):
    name, program, paced = "h2load", "h2load", True

    def version(self) -> str:
        return first_match(said_by("h2load", "--version"), r"nghttp2/(\S+)")

    def command(self, load: Load) -> list[object]:
        rate = [] if load.rate is None else [f"--rps={load.rate / load.connections}"]
        log = [f"--log-file={load.folder / 'h2load.log'}"] if load.latencies else []
        return ["h2load", "--h1", "-t", 1, "-c", load.connections, "-D", f"{load.seconds:g}", *rate, *log, load.url]

    def read(self, done: Done, load: Load) -> Said:
        found = re.search(r"(\d+) done, (\d+) succeeded, (\d+) failed", done.output)
        said = Said(served=int(found[2]), errors=int(found[3]))
        if load.latencies:
            log = load.folder / "h2load.log"
            times = [int(line.split()[2]) / 1e6 for line in log.read_text().splitlines()]
            log.unlink()
            said.p50_s, said.p99_s = quantile(times, 0.5), quantile(times, 0.99)
        return said


class Oha(Generator):
    name, program, paced = "oha", "oha", True
    correction = False

    def version(self) -> str:
        return first_match(said_by(self.path(), "--version"), r"oha (\S+)")

    def command(self, load: Load) -> list[object]:
        rate = [] if load.rate is None else ["-q", f"{load.rate:g}"] + ["--latency-correction"] * self.correction
        return [self.path(), "--no-tui", "--output-format", "json", "-c", load.connections, "-z",
                f"{load.seconds:g}s", *rate, load.url]

    def read(self, done: Done, load: Load) -> Said:
        said = json.loads(done.output)
        times = said["latencyPercentiles"]
        return Said(served=said["statusCodeDistribution"].get("200", 0), errors=sum(said["errorDistribution"].values()),
                    p50_s=times["p50"], p99_s=times["p99"])


class CorrectedOha(Oha):
    name, correction = "oha with `--latency-correction`", True


class Hey(Generator):
    name, program, paced = "hey", "hey", True

    def version(self) -> str:
        return module_version(self.path())

    def command(self, load: Load) -> list[object]:
        rate = [] if load.rate is None else ["-q", load.rate / load.connections]
        return [self.path(), "-cpus", 1, "-c", load.connections, "-z", f"{load.seconds:g}s", *rate, load.url]

    def read(self, done: Done, load: Load) -> Said:
        errors = done.output.partition("Error distribution:")[2]
        return Said(served=int(re.search(r"\[200\]\s+(\d+) responses", done.output)[1]),
                    errors=sum(int(count) for count in re.findall(r"\[(\d+)\]", errors)),
                    p50_s=float(re.search(r"50%+ in ([\d.]+) secs", done.output)[1]),
                    p99_s=float(re.search(r"99%+ in ([\d.]+) secs", done.output)[1]))


class Siege(Generator):
    name = program = "siege"
    ABOUT = 15_000
    """The estimated number of requests per second. It is required because siege does not always stop after
    the given time."""
    SETTINGS = "connection = keep-alive\nbenchmark = true\nverbose = false\njson_output = true\nlimit = 20000\n" \
               "parser = false\ncolor = off\nlogging = false\nfailures = 1000\n"

    def version(self) -> str:
        return first_match(said_by("siege", "--version"), r"SIEGE (\S+)")

    def command(self, load: Load) -> list[object]:
        settings = load.folder / "siegerc"
        settings.write_text(self.SETTINGS)
        each = round(load.seconds * self.ABOUT / load.connections)
        return ["siege", "-R", settings, "-b", "-c", load.connections, "-r", max(1, each), load.url]

    def read(self, done: Done, load: Load) -> Said:
        said = json.loads(done.output[done.output.index("{"):])
        return Said(served=said["transactions"], errors=said["failed_transactions"])


class K6(Generator):
    name, program, paced = "k6", "k6", True
    SCRIPT = """
import http from 'k6/http';
const closed = {{ executor: 'constant-vus', vus: {connections}, duration: '{seconds}s' }};
const open = {{ executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', duration: '{seconds}s',
                preAllocatedVUs: {connections}, maxVUs: {connections} }};
export const options = {{ discardResponseBodies: true, summaryTrendStats: ['p(50)', 'p(99)'],
                          scenarios: {{ load: {loop} }} }};
export default function () {{ http.get('{url}'); }}
"""

    def version(self) -> str:
        return module_version(self.path())

    def command(self, load: Load) -> list[object]:
        script = load.folder / "k6.js"
        script.write_text(self.SCRIPT.format(connections=load.connections, seconds=f"{load.seconds:g}", url=load.url,
                                             rate=round(load.rate or 1), loop="closed" if load.rate is None else "open"))
        return [self.path(), "run", "--quiet", "--no-usage-report", "--summary-export", load.folder / "k6.json", script]

    def read(self, done: Done, load: Load) -> Said:
        metrics = json.loads((load.folder / "k6.json").read_text())["metrics"]
        times = metrics["http_req_duration"]
        failed = metrics["http_req_failed"]["passes"]
        dropped = metrics.get("dropped_iterations", {}).get("count", 0)
        requests = metrics["http_reqs"]["count"]
        return Said(served=requests - failed, errors=failed + dropped, offered=requests + dropped,
                    p50_s=times["p(50)"] / 1e3, p99_s=times["p(99)"] / 1e3)


ALL: list[Generator] = [Benchlab(), Bare(), Ab(), Wrk(), H2load(), Oha(), CorrectedOha(), Hey(), Siege(), K6()]


def chosen(names: list[str], offered: list[str]) -> tuple[list[Generator], str]:
    """Returns the installed generators among the offered or named generators, and a sentence about the missing ones."""
    wanted = [g for g in ALL if g.name in offered and (not names or any(g.name.startswith(name) for name in names))]
    missing = ", ".join(g.name for g in wanted if not g.path())
    return [g for g in wanted if g.path()], missing and f"Not installed: {missing} (`make -C benches/load peers`).\n\n"


def said_by(*command: str) -> str:
    """Returns everything that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


def first_match(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found[found.re.groups] if found else "?"


def module_version(program: str) -> str:
    """Returns the version from which a program in Go was built."""
    return first_match(said_by("go", "version", "-m", program), r"\n\s+mod\s+\S+\s+v(\S+)")


def with_unit(text: str, pattern: str) -> float | None:
    """Returns a time such as 1.5ms, in seconds."""
    found = re.search(pattern, text)
    return found and float(found[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[found[2]]
