#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of a coordinator with a thousand agents, each of which reports 100,000 requests every second.

    cargo build --release -p benchlab -p lab-many --bin benchlab --example simulated_agent
    benches/load/agents.py [--agents 1000] [--seconds 20] [--output FILE]

The agents are simulated: `simulated_agent`, an example of lab-many, is started instead of ssh. They send real
distributions of invented times.
"""

import argparse
import hashlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

import bench
from bench import Failure
from generators import LAB, figures

SIMULATED = Path(os.environ.get("SIMULATED_AGENT", bench.ROOT / "target" / "release" / "examples" / "simulated_agent"))
RATE = 100_000


def cpu_s(pid: int) -> float:
    """Returns the CPU seconds of a process's threads (proc(5), schedstat)."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def read_bytes(pid: int) -> int:
    """Returns the bytes that a process has read, including from pipes."""
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])


def begun(lab: subprocess.Popen, folder: Path) -> None:
    """Waits until a run file exists."""
    deadline = time.monotonic() + 120
    while not any(folder.glob("*.lab")):
        if lab.poll() is not None or time.monotonic() > deadline:
            raise Failure(f"benchlab: {lab.communicate()[1]}")
        time.sleep(0.05)


def measure(args: argparse.Namespace, folder: Path) -> tuple[float, float, int, float]:
    """Returns the coordinator's CPU usage in cores, the bytes that it reads per second, its peak memory,
    and the number of requests in its sum."""
    hosts = ",".join(f"s{number}" for number in range(args.agents))
    exported = folder / "load.json"
    command = [LAB, "load", "http://127.0.0.1:9/", "--on", f"ssh:{hosts}", "--connections", args.agents, "--redo", "0",
               "--for", f"{args.seconds:g}s", "--runs", folder, "--export", exported]
    environment = {"BENCHLAB_SSH": str(SIMULATED), "SIMULATED_SHA256": hashlib.sha256(LAB.read_bytes()).hexdigest()}
    lab = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    try:
        begun(lab, folder)
        time.sleep(args.seconds * 0.25)
        before = (time.monotonic(), cpu_s(lab.pid), read_bytes(lab.pid))
        time.sleep(args.seconds * 0.65)
        after = (time.monotonic(), cpu_s(lab.pid), read_bytes(lab.pid))
        _, peak, _ = bench.memory_of(lab.pid)
        _, said = lab.communicate(timeout=120)
    finally:
        lab.kill()
    if lab.returncode != 0:
        raise Failure(f"benchlab exited with status {lab.returncode}: {said}")
    wall, cpu, read = (now - then for now, then in zip(after, before))
    return cpu / wall, read / wall, peak, figures(exported)["served"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    bench.add_options(parser)
    args = bench.parse(parser, quick={"seconds": 5.0, "agents": 50})
    busy = bench.busy()
    with tempfile.TemporaryDirectory() as folder:
        cores, read, peak, served = measure(args, Path(folder))
    due = args.agents * RATE * args.seconds
    text = bench.paragraph(f"""Measured by `benches/load/agents.py --agents {args.agents} --seconds {args.seconds:g}` on
        {bench.machine()}: {args.agents:,} simulated agents, each of which reports {RATE:,} requests every second. The
        coordinator received {read / 1e6:.1f} MB per second, and {served:,.0f} of {due:,.0f} requests.""")
    aims = [bench.verdict("coordinator's CPU, cores", cores, 1),
            bench.verdict("its maximum memory", peak / 1e6, 200, " MB", digits=0),
            bench.verdict("requests that are not in the sum", due - served, 0, digits=0)]
    bench.publish(args, f"## A coordinator of many agents\n\n{busy}{text}\n\n" + "\n".join(aims) + "\n")


if __name__ == "__main__":
    bench.run(main)
