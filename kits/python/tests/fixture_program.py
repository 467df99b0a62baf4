# SPDX-License-Identifier: Apache-2.0
"""A fixture for tests: its states are values of the file that its argument names."""

import sys
from pathlib import Path

from lab_kit import Checked, Fixture, State, UnsupportedError, serve_fixture

FILE = Path(sys.argv[1])


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
        return {"value": value}

    def undo(self, record: str) -> str | None:
        earlier = FILE.read_text()
        FILE.write_text(record)
        return f"the file set to {earlier}" if earlier != record else None


serve_fixture("value", Value())
