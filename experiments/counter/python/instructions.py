# SPDX-License-Identifier: Apache-2.0
"""Prints the bytecode of each increment loop. The interpreter's machine instructions are the same for all."""

import dis

from counters import SCHEMES, CounterPair

for name, counter in {**SCHEMES, "side_by_side": CounterPair}.items():
    print(f"{name}: (bytecode)")
    code = list(dis.get_instructions(counter.increments))
    end = next(i for i, step in enumerate(code) if step.opname == "JUMP_BACKWARD")
    start = next(i for i, step in enumerate(code) if step.offset == code[end].argval)
    for step in code[start:end + 1]:
        print(f"    {step.offset:4} {step.opname:20} {step.argrepr}".rstrip())
