# SPDX-License-Identifier: Apache-2.0
"""A fixture: a helper program that changes the surroundings of subjects, and undoes its changes."""

import os
import platform
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab_kit import lines
from lab_kit.errors import UnsupportedError, UsageError

_MESSAGE_MAX = 1000
_ADDED = ("state", "folder", "disk", "visit", "seed", "target")


@dataclass(frozen=True)
class State:
    """A state of a fixture. `name` is a subject's name or a factor's value, or empty if the fixture has no states.
    `arguments` are the arguments in the experiment and, in a visit, the parameters of the case. `folder` is the
    subject's directory, and `disk` the name of the disk that contains this directory, if there is such a disk. Only
    a visit has a seed and a target."""

    name: str
    arguments: Mapping[str, str]
    folder: str | None = None
    disk: str | None = None
    seed: int = 0
    target: str | None = None

    def text(self, key: str) -> str:
        """Returns the argument `key`. Raises UsageError if it is missing."""
        return lines.text(self.arguments, key)


@dataclass(frozen=True)
class Checked:
    """The effect of a state. `is_current` is true if the machine is already in the state. `permanent` contains
    instructions for making the state permanent. `undo` is the text from which a later process undoes the state.
    `claims` contains the names, without commas, of the resources that only one run may change at a time."""

    is_current: bool = False
    permanent: str | None = None
    undo: str | None = None
    claims: Sequence[str] = ()


@dataclass(frozen=True)
class Outage:
    """An outage of a subject's target. benchlab kills the server if benchlab started it, and starts it again. All
    other outages are up to the fixture. Both times are in ns: `after_ns` is from the beginning of the work to the
    outage, and `length_ns` from the step `stopped` to the step `starting`. The outage ends earlier if the subject
    finishes its work."""

    after_ns: int
    length_ns: int


class Visit:
    """A fixture's side of a visit, such as a proxy in front of a server."""

    def values(self) -> Mapping[str, object]:
        """Returns values for the subject, such as the address of the proxy."""
        return {}

    def begin(self, expected_ns: int | None) -> Outage | None:
        """Called before the subject works. `expected_ns` is the approximate duration of the work if it is measured, and
        None for other work. Returns the outage that should occur during the work, if any."""
        return None

    def outage(self, step: str) -> None:
        """Called at each step of an outage (stopping, stopped, starting, started), unless the subject has done its work
        before the outage."""

    def end(self, operations: int) -> Mapping[str, float]:
        """Called after the subject has performed `operations` operations. Returns the fixture's metrics of this work, in
        their units. The metric of an event that did not occur is omitted."""
        return {}

    def leave(self) -> None:
        """Ends the visit. The subject has closed the case, or failed."""


class Fixture:
    """A helper program of an experiment. `set` may make changes that outlive the process only if `check` returned how to
    undo them."""

    def open(self) -> Mapping[str, object]:
        """Prepares the fixture. Returns values for subjects, such as the address of a proxy."""
        return {}

    def check(self, state: State) -> Checked:
        """Returns what a state would change, without changing anything. Raises UnsupportedError if the state cannot
        be set on this machine."""
        return Checked()

    def set(self, state: State | None) -> Mapping[str, object]:
        """Replaces the current state; None undoes all changes. Returns values for subjects."""
        raise NotImplementedError

    def enter(self, state: State) -> Visit:
        """Starts a visit: a subject's process is about to open a case. Called if the experiment has `visits = true`,
        instead of `set` with a state."""
        raise UnsupportedError("the fixture does not support visits")

    def undo(self, record: str) -> str | None:
        """Undoes what an earlier process changed, from a text in `Checked.undo`. Returns a description of the changes
        that it undid, or None."""
        return None


def serve_fixture(name: str, fixture: Fixture) -> None:
    """Serves benchlab until `quit` or the end of the input, and then undoes all changes.

    From this call on, standard output of the program is redirected to standard error, so that it cannot corrupt
    replies.
    """
    with os.fdopen(os.dup(1), "wb") as replies:
        sys.stdout = sys.stderr
        os.dup2(2, 1)
        session = _Session(fixture)
        try:
            replies.write(lines.reply("hello", {
                "protocol": 1, "fixture": name,
                "runtime": f"{platform.python_implementation()} {platform.python_version()}"}))
            replies.flush()
            for line in lines.read_lines(sys.stdin.buffer):
                reply = session.answer(line)
                if reply is None:
                    break
                replies.write(reply)
                replies.flush()
        finally:
            # benchlab may have been killed, so changes are undone even if the streams are broken.
            session.end()


class _Session:
    def __init__(self, fixture: Fixture) -> None:
        self._fixture = fixture
        self._is_open = False
        self._visits: dict[str, Visit] = {}

    def answer(self, line: bytes | None) -> bytes | None:
        """Returns the reply to a line, or None for `quit`."""
        try:
            verb, arguments = lines.parse(line)
            return None if verb == "quit" else self._reply(verb, arguments)
        except UsageError as error:
            return _error("usage", error)
        except UnsupportedError as error:
            return _error("unsupported", error)
        except Exception as error:
            traceback.print_exc()
            return _error("failed", error)

    def end(self) -> None:
        for visit in self._visits.values():
            visit.leave()
        self._visits.clear()
        if self._is_open:
            self._fixture.set(None)
            self._is_open = False

    def _reply(self, verb: str, arguments: Mapping[str, str]) -> bytes:
        match verb:
            case "open" if self._is_open:
                raise UsageError("the fixture is already open")
            case "open":
                values = self._fixture.open()
                self._is_open = True
                return lines.reply("opened", values)
            case "undo":
                changed = self._fixture.undo(lines.text(arguments, "record"))
                return lines.reply("undone", {} if changed is None else {"changed": changed})
            case "check" | "set" | "close" | "enter" | "begin" | "outage" | "end" | "leave" if not self._is_open:
                raise UsageError("the fixture is not open")
            case "check":
                return _checked(self._fixture.check(_state(arguments)))
            case "set":
                state = _state(arguments) if "state" in arguments else None
                return lines.reply("set", self._fixture.set(state))
            case "enter":
                visit = self._fixture.enter(_state({"state": "", **arguments}))
                self._visits[lines.text(arguments, "visit")] = visit
                return lines.reply("entered", visit.values())
            case "begin":
                expected = "expected_ns" in arguments
                expected_ns = lines.integer(arguments, "expected_ns", 0, 2**64 - 1) if expected else None
                outage = self._visit(arguments).begin(expected_ns)
                return lines.reply("begun", {} if outage is None else {
                    "down_after_ns": outage.after_ns, "down_ns": outage.length_ns})
            case "outage":
                self._visit(arguments).outage(lines.text(arguments, "step"))
                return lines.reply("noted", {})
            case "end":
                operations = lines.integer(arguments, "operations", 1, 2**53)
                metrics = self._visit(arguments).end(operations)
                return lines.reply("ended", {key: lines.decimal(value) for key, value in metrics.items()})
            case "leave":
                visit = self._visit(arguments)
                del self._visits[lines.text(arguments, "visit")]
                visit.leave()
                return lines.reply("left", {})
            case "close":
                self.end()
                return lines.reply("closed", {})
        raise UsageError(f"there is no command {verb[:40]}")

    def _visit(self, arguments: Mapping[str, str]) -> Visit:
        name = lines.text(arguments, "visit")
        try:
            return self._visits[name]
        except KeyError:
            raise UsageError(f"there is no visit {name}") from None


def _state(arguments: Mapping[str, str]) -> State:
    own = {key: value for key, value in arguments.items() if key not in _ADDED}
    seed = lines.integer(arguments, "seed", 0, 2**64 - 1) if "seed" in arguments else 0
    return State(lines.text(arguments, "state"), own, arguments.get("folder"), arguments.get("disk"), seed,
                 arguments.get("target"))


def _checked(checked: Checked) -> bytes:
    reply = {"current": "yes" if checked.is_current else "no", "permanent": checked.permanent,
             "undo": checked.undo, "claims": ",".join(checked.claims) or None}
    return lines.reply("checked", {key: value for key, value in reply.items() if value is not None})


def _error(code: str, error: Exception) -> bytes:
    message = str(error) or type(error).__name__
    return lines.reply("error", {"code": code, "message": message[:_MESSAGE_MAX]})
