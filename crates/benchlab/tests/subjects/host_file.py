# SPDX-License-Identifier: Apache-2.0
"""A fixture whose states are values of a file, which represents a setting of the host. It logs its commands.

Its arguments are the file, the log, and values that it cannot set, each as FAULT=VALUE. `unsupported` fails when the
state is checked, and `refused` when it is set. With `crash`, the fixture exits while the file has the value.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "kits/python/src"))

from lab_kit import Checked, Fixture, State, UnsupportedError, serve_fixture  # noqa: E402

HOST, NOTES = Path(sys.argv[1]), Path(sys.argv[2])
FAULTS = dict(word.split("=") for word in sys.argv[3:])


def note(line: str) -> None:
    with NOTES.open("a") as notes:
        notes.write(line + "\n")


class HostFile(Fixture):
    def open(self) -> dict[str, object]:
        note(f"opened {os.getpid()}")
        self.original = HOST.read_text()
        return {"process": os.getpid()}

    def check(self, state: State) -> Checked:
        value = state.text("value")
        note(f"checked {state.name} {value} {state.folder}")
        if value == FAULTS.get("unsupported"):
            raise UnsupportedError(f"{HOST} has no value {value}")
        return Checked(self.original == value, f"To make it permanent, write {value}\nto {HOST}", self.original,
                       [str(HOST)])

    def set(self, state: State | None) -> dict[str, object]:
        value = self.original if state is None else state.text("value")
        note(f"set {value}")
        if value == FAULTS.get("refused"):
            raise OSError(f"{HOST} does not accept {value}")
        HOST.write_text(value)
        if value == FAULTS.get("crash"):
            os._exit(7)
        return {"shade": f"light {value}"}

    def undo(self, record: str) -> str | None:
        current = HOST.read_text()
        note(f"undo {current}")
        if current == record:
            return None
        HOST.write_text(record)
        return f"{HOST} set to {current}: restored to {record}"


if __name__ == "__main__":
    serve_fixture("host-file", HostFile())
