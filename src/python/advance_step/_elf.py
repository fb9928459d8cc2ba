# SPDX-License-Identifier: Apache-2.0
"""The names that a shared object takes from others or gives them, out of its table of dynamic
symbols."""

from __future__ import annotations

import mmap
import os
import struct

_DYNSYM = 11  # the type of the section
_GLOBAL = 1  # a binding; a weak symbol may stay without a definition


def _names(path: str | os.PathLike[str], undefined: bool) -> list[str]:
    try:
        return _read(path, undefined)
    except (struct.error, IndexError, ValueError):  # beyond the end; mmap takes no empty file
        return []


def _read(path: str | os.PathLike[str], undefined: bool) -> list[str]:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] != b"\x7fELF\x02\x01":
            return []
        (sections,) = struct.unpack_from("<Q", data, 0x28)
        size, number = struct.unpack_from("<HH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size)
                   for i in range(number)]
        names = []
        for header in headers:
            if header[1] != _DYNSYM:
                continue
            texts = headers[header[6]][4]
            for name, info, _, section, _, _ in struct.iter_unpack(
                    "<IBBHQQ", data[header[4]:header[4] + header[5]]):
                if (section == 0) == undefined and info >> 4 == _GLOBAL and name:
                    begin = texts + name
                    names.append(data[begin:data.find(b"\0", begin)].decode("utf-8", "replace"))
        return names


def undefined_names(path: str | os.PathLike[str]) -> list[str]:
    """Returns the undefined global names of a 64-bit little-endian file; none for another one, or
    for one that is cut off, which the loader does not load either."""
    return _names(path, True)


def defined_names(path: str | os.PathLike[str]) -> list[str]:
    """Returns the global names that such a file defines."""
    return _names(path, False)
