# SPDX-License-Identifier: Apache-2.0
"""Maps that threads share, with the standard library. Key k has the value k + 1."""

import threading
from collections.abc import Callable
from typing import Protocol

from lab_kit import UnsupportedError


class SharedMap(Protocol):
    is_safe: bool
    """True if the map never loses an entry."""

    def get(self, key: int) -> int: ...

    def put(self, key: int, value: int) -> None: ...

    def __len__(self) -> int: ...


class ConcurrentMap:
    """A plain dict: each of its operations is atomic, because it is one step of the interpreter, which holds
    the global interpreter lock."""

    is_safe = True

    def __init__(self, entries: dict[int, int]) -> None:
        self.get = entries.__getitem__
        self.put = entries.__setitem__
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)


class LockedMap:
    is_safe = True

    def __init__(self, entries: dict[int, int]) -> None:
        self._entries = entries
        self._lock = threading.Lock()

    def get(self, key: int) -> int:
        with self._lock:
            return self._entries[key]

    def put(self, key: int, value: int) -> None:
        with self._lock:
            self._entries[key] = value

    def __len__(self) -> int:
        return len(self._entries)


class CopiedMap:
    """A dict that every write replaces with a changed copy. Readers use the current dict. Writers wait for each other."""

    is_safe = True

    def __init__(self, entries: dict[int, int]) -> None:
        self._entries = entries
        self._writing = threading.Lock()

    def get(self, key: int) -> int:
        return self._entries[key]

    def put(self, key: int, value: int) -> None:
        with self._writing:
            self._entries = {**self._entries, key: value}

    def __len__(self) -> int:
        return len(self._entries)


class UnsafeCopiedMap:
    """A dict that every write replaces with a changed copy, without a lock. If two writers copy it at the same time,
    the last one wins."""

    is_safe = False

    def __init__(self, entries: dict[int, int]) -> None:
        self._entries = entries

    def get(self, key: int) -> int:
        return self._entries[key]

    def put(self, key: int, value: int) -> None:
        copy = self._entries.copy()
        copy[key] = value
        self._entries = copy

    def __len__(self) -> int:
        return len(self._entries)


SCHEMES: dict[str, Callable[[dict[int, int]], SharedMap]] = {
    "lock": LockedMap,
    "copy_on_write": CopiedMap,
    "unsafe_copy_on_write": UnsafeCopiedMap,
    "concurrent": ConcurrentMap,
}


def shared_map(scheme: str, entries: int) -> SharedMap:
    """Creates a map with the keys from 0 to `entries` - 1."""
    if scheme not in SCHEMES:
        raise UnsupportedError(f"unknown scheme {scheme}")
    return SCHEMES[scheme]({key: key + 1 for key in range(entries)})
