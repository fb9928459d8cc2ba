#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function-local static object of a library is constructed when the library has been loaded.

check_guards.py LIBRARY ...

A fork during the construction of such an object would leave a guard that the child waits for at its first call. So
the objects are constant, as NeverDestroyed is, or constructed by an AtLoad (src/base/at_load.h).
"""
import ctypes
import os
import subprocess
import sys


def guards(library):
    """The guard variables of the library, by their mangled names, without those of threads."""
    listing = subprocess.run(["readelf", "--symbols", "--wide", library], check=True, capture_output=True,
                             text=True).stdout
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[3] == "OBJECT" and fields[7].startswith("_ZGV"):
            yield fields[7], int(fields[1], 16)


def base_of(library):
    path = os.path.realpath(library)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            fields = line.split()
            if len(fields) == 6 and fields[5] == path and int(fields[2], 16) == 0:
                return int(fields[0].split("-")[0], 16)
    raise RuntimeError(f"{path} is not mapped")


def main():
    missing = 0
    for library in sys.argv[1:]:
        ctypes.CDLL(library, mode=ctypes.RTLD_LOCAL)
        base = base_of(library)
        found = list(guards(library))
        for name, offset in found:
            if ctypes.c_ubyte.from_address(base + offset).value != 1:
                print(f"{library}: the object of guard {name} is constructed at its first use", file=sys.stderr)
                missing += 1
        print(f"{os.path.basename(library)}: {len(found)} function-local static objects")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
