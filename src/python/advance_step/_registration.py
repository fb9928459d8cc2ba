# SPDX-License-Identifier: Apache-2.0
"""Registers memory of the program with the runtime, so that the device can use it in place.

The C library accepts a tensor only if its memory lies in one device allocation or one registered
range (aclrtHostRegister), and registered ranges must not overlap. So this module keeps one set of
ranges for the process:

- A range that lies in a registered one needs no registration.
- A range that overlaps registered ones replaces them by the union of all.
- A range stays registered when its memory is freed. It is not used until new memory has the same
  addresses.

While ranges are replaced, a call of another thread may find its memory not registered. Nothing is
queued then; the thread calls `renew`, which waits on `_lock` for the replacement, and tries again.
"""

from __future__ import annotations

import bisect
import threading
from ctypes import byref, c_uint32, c_void_p
from typing import Iterable

from . import _library, _runtime

_MAPPED = 0  # aclrtHostRegisterType
_HOST = 0  # aclrtMemLocationType
_RANGE_REFUSED = 107000  # part of the range is device memory or is not mapped
_REGISTERED_BY_OTHERS = 507910
_MOST_RANGES = 1024  # then all are unregistered, which drops ranges of freed memory

_lock = threading.Lock()  # guards the list
# Sorted pairs (begin, end). An exception may come between any two steps (KeyboardInterrupt), so a
# range is listed before it is registered: `renew` corrects a range that is listed only, but one that
# is registered only would be in the way for ever.
_ranges: list[tuple[int, int]] = []


def _register(begin: int, end: int) -> int:
    entry = (begin, end)
    bisect.insort(_ranges, entry)
    code: int = _library.host_register(begin, end - begin, _MAPPED, byref(c_void_p()))
    if code:
        _ranges.remove(entry)
        if code not in (_RANGE_REFUSED, _REGISTERED_BY_OTHERS):
            _library.check(code, "aclrtHostRegister")
        _library.recent_message()  # phase two checks whether the operator can use the range
    return code


def _take_overlapping(begin: int, end: int) -> tuple[int, int]:
    """Ends the registrations that overlap the range; returns the union of all."""
    first = bisect.bisect_left(_ranges, (begin,))
    if first and _ranges[first - 1][1] > begin:
        first -= 1
    last = max(first, bisect.bisect_left(_ranges, (end,)))
    low, high = begin, end
    for old_begin, old_end in _ranges[first:last]:
        low, high = min(low, old_begin), max(high, old_end)
        if _library.host_unregister(old_begin):
            _library.recent_message()  # device memory has replaced it, and the runtime dropped it
    del _ranges[first:last]
    return low, high


def _holds(begin: int, end: int) -> bool:
    at = bisect.bisect_left(_ranges, (begin + 1,)) - 1
    return at >= 0 and end <= _ranges[at][1]


def _ensure(begin: int, end: int) -> None:
    if begin == end or _holds(begin, end):
        return
    if len(_ranges) >= _MOST_RANGES:
        _take_overlapping(0, 1 << 64)
    low, high = _take_overlapping(begin, end)
    if _register(low, high) == _RANGE_REFUSED and (low, high) != (begin, end):
        _register(begin, end)  # the memory of the old ranges has been freed


def ensure(ranges: Iterable[tuple[int, int]]) -> None:
    """Registers every range [begin, end) that is not device memory. It needs a current context."""
    with _lock:
        for begin, end in ranges:
            _ensure(begin, end)


def _pinned(address: int) -> bool:
    """Returns whether the runtime has the address registered."""
    attributes = (c_uint32 * 7)()  # device, kind, page size, four reserved
    return _library.pointer_attributes(address, attributes) == 0 and attributes[1] == _HOST


def renew(ranges: Iterable[tuple[int, int]]) -> None:
    """As ensure, for use when the runtime refused a range: it may have dropped listed ranges."""
    wanted = [(begin, end) for begin, end in ranges if begin != end]
    with _lock:
        for begin, end in wanted:
            if not (_holds(begin, end) and _pinned(begin) and _pinned(end - 1)):
                _take_overlapping(begin, end)
        for begin, end in wanted:
            _ensure(begin, end)


def _give_up_all() -> None:
    with _lock:
        _take_overlapping(0, 1 << 64)


_runtime.on_end(_give_up_all)
