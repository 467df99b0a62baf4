# SPDX-License-Identifier: Apache-2.0
"""A fixture for tests: its states are values of the file that its argument names."""

import sys
from pathlib import Path

from lab_kit import Checked, Fixture, Outage, State, UnsupportedError, Visit, serve_fixture

FILE = Path(sys.argv[1])


class Guest(Visit):
    def __init__(self, state: State) -> None:
        self.name, self.value = state.name, int(state.text("value"))
        assert dict(state.arguments) == {"value": state.text("value")}

    def values(self) -> dict[str, object]:
        return {"doubled": 2 * self.value}

    def begin(self, expected_ns: int | None) -> Outage | None:
        note(" begun")
        return None if expected_ns is None else Outage(expected_ns // 2, 2 * self.value)

    def outage(self, step: str) -> None:
        if step == "starting":
            raise OSError("it is too late")

    def end(self, operations: int) -> dict[str, float]:
        return {"each": self.value / operations}

    def leave(self) -> None:
        note(f" {self.name} left")


def note(text: str) -> None:
    print(text, file=sys.stderr)


class Value(Fixture):
    def open(self) -> dict[str, object]:
        print("@lab torn", end="")
        self.usual = FILE.read_text()
        return {"port": 4711}

    def check(self, state: State) -> Checked:
        value = state.text("value")
        if value == "impossible":
            raise UnsupportedError("there is no such value")
        assert dict(state.arguments) == {"value": value}
        return Checked(self.usual == value, state.disk and f"on {state.disk}", self.usual, ["file", state.name])

    def set(self, state: State | None) -> dict[str, object]:
        value = state.text("value") if state else self.usual
        if value == "refused":
            raise OSError("not this value")
        FILE.write_text(value)
        note(f"set {value}")
        return {"value": value}

    def enter(self, state: State) -> Visit:
        return Guest(state)

    def undo(self, record: str) -> str | None:
        earlier = FILE.read_text()
        FILE.write_text(record)
        return f"the file set to {earlier}" if earlier != record else None


serve_fixture("value", Value())
