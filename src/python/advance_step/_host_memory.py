# SPDX-License-Identifier: Apache-2.0
"""Registers memory of the program with the runtime, so that the device can use it in place.

The C library accepts a tensor only if its memory lies in one device allocation or one registered
range (advstepRegisterHostArray), and registered ranges must not overlap. So this module keeps one set of
ranges for the process:

- A range that lies in a registered one needs no registration.
- A range that overlaps registered ones replaces them by the union of all.
- A range stays registered when its memory is freed. It is not used until new memory has the same
  addresses.

While ranges are replaced, a call of another thread may find its memory not registered. Nothing is
queued then; the thread calls `renew`, which waits on `_lock` for the replacement, and tries again.

A finalizer or a signal handler of the program may run between any two steps and call this module
again, on the thread that has the lock. So every entry of the list is unique, an entry is searched
for anew after each call of the runtime, and `ensure` starts again where such a call came between.
"""

from __future__ import annotations

import bisect
import itertools
import threading
from ctypes import c_uint32
from typing import Iterable

from . import _library, _runtime

_HOST = 0  # aclrtMemLocationType
_RANGE_REFUSED = 107000  # part of the range is device memory or is not mapped
_REGISTERED_BY_OTHERS = 507910
_MOST_RANGES = 1024  # then all are unregistered, which drops ranges of freed memory

_lock = threading.RLock()  # guards the list
# Sorted entries (begin, end, number). An exception may come between any two steps
# (KeyboardInterrupt), so a range is listed before it is registered, and until it is unregistered:
# `renew` corrects a range that is listed only, but one that is registered only would be in the way
# for ever. The number is another one for each entry, so that nobody removes another's.
_ranges: list[tuple[int, int, int]] = []
_numbers = itertools.count(1)
_calls = 0  # of ensure and renew that have begun


def _forget(entry: tuple[int, int, int]) -> None:
    try:
        _ranges.remove(entry)
    except ValueError:
        pass  # a call that came between has done it


def _unregister(begin: int) -> None:
    if _library.host_unregister(begin):
        _library.recent_message()  # device memory has replaced it, and the runtime dropped it


def _register(begin: int, end: int) -> int:
    entry = (begin, end, next(_numbers))
    bisect.insort(_ranges, entry)
    code: int = _library.host_register(begin, end - begin)
    if code:
        _forget(entry)
        if code not in (_RANGE_REFUSED, _REGISTERED_BY_OTHERS):
            _library.check(code, "advstepRegisterHostArray")
        _library.recent_message()  # phase two checks whether the operator can use the range
    elif _near(begin, end) != [entry]:  # a call that came between has changed what is listed here
        _take_overlapping(begin, end)
        _unregister(begin)  # in case it is not listed any more
    return code


def _near(begin: int, end: int) -> list[tuple[int, int, int]]:
    """Returns the entries that overlap the range."""
    first = max(0, bisect.bisect_left(_ranges, (begin,)) - 1)
    last = bisect.bisect_left(_ranges, (end,), first)
    return [entry for entry in _ranges[first:last] if entry[1] > begin]


def _take_overlapping(begin: int, end: int) -> tuple[int, int]:
    """Ends the registrations that overlap the range; returns the union of all."""
    low, high = begin, end
    while entries := _near(begin, end):
        for entry in entries:
            low, high = min(low, entry[0]), max(high, entry[1])
            _unregister(entry[0])
            _forget(entry)
    return low, high


def _holds(begin: int, end: int) -> bool:
    at = bisect.bisect_left(_ranges, (begin + 1,)) - 1
    return at >= 0 and any(end <= entry[1] for entry in _ranges[at:at + 1])


def _ensure(begin: int, end: int) -> None:
    while begin != end and not _holds(begin, end):
        calls = _calls
        if len(_ranges) >= _MOST_RANGES:
            _take_overlapping(0, 1 << 64)
        low, high = _take_overlapping(begin, end)
        if _register(low, high) == _RANGE_REFUSED and (low, high) != (begin, end):
            _register(begin, end)  # the memory of the old ranges has been freed
        if calls == _calls:
            return


def ensure(ranges: Iterable[tuple[int, int]]) -> None:
    """Registers every range [begin, end) that is not device memory. It needs a current context."""
    global _calls
    with _lock:
        _calls += 1
        for begin, end in ranges:
            _ensure(begin, end)


def _pinned(address: int) -> bool:
    """Returns whether the runtime has the address registered."""
    attributes = (c_uint32 * 7)()  # device, kind, page size, four reserved
    return _library.pointer_attributes(address, attributes) == 0 and attributes[1] == _HOST


def renew(ranges: Iterable[tuple[int, int]]) -> None:
    """As ensure, for use when the runtime refused a range: it may have dropped listed ranges."""
    global _calls
    wanted = [(begin, end) for begin, end in ranges if begin != end]
    with _lock:
        _calls += 1
        for begin, end in wanted:
            if not (_holds(begin, end) and _pinned(begin) and _pinned(end - 1)):
                _take_overlapping(begin, end)
        for begin, end in wanted:
            _ensure(begin, end)


def _give_up_all() -> None:
    with _lock:
        _take_overlapping(0, 1 << 64)


_runtime.on_end(_give_up_all)
