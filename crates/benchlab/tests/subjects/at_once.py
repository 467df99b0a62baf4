# SPDX-License-Identifier: Apache-2.0
"""A subject whose threads hash in parallel and report their cores. `own_cores` is 1 if each thread has its own core.
"""

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor

from by_hand import commands, say

BLOCK = bytes(64 * 1024)
WORK_S = 0.005  # CPU time of each thread in every batch, however long the machine takes for it


def work() -> frozenset[int]:
    cores = frozenset(os.sched_getaffinity(0))
    end = time.thread_time() + WORK_S
    while time.thread_time() < end:
        hashlib.sha256(BLOCK)
    return cores


def own_cores(core_sets: list[frozenset[int]]) -> int:
    return int(all(len(cores) == 1 for cores in core_sets) and len(set(core_sets)) == len(core_sets))


members: list[ThreadPoolExecutor] = []
for verb, arguments, fields in commands("at_once"):
    if verb == "open":
        # Each thread has its own pool, so that it does not take over another thread's work.
        members = [ThreadPoolExecutor(1) for _ in range(int(arguments["threads"]))]
    elif verb == "run":
        start = time.monotonic_ns()
        core_sets = [future.result() for future in [member.submit(work) for member in members]]
        say(f"@lab ran start={start} end={time.monotonic_ns()} {fields} own_cores={own_cores(core_sets)}")
    elif verb == "close":
        for member in members:
            member.shutdown()
