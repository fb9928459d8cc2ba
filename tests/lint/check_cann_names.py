#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The prefix like CANN's has the names that clients bind, and a definition behind each name.

check_cann_names.py FOLDER libadvance_step.so   FOLDER: the libraries, build/<preset>/cann/lib64

The build makes the names of the catalogue of functions. So the names to expect come from published clients
(src/cann/clients), and the catalogue only says which of them a library forwards.
"""
import ctypes
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "src" / "cann" / "clients"
TABLES = "src/catalogue/functions"
# Libraries of an installed prefix that have the project's own names.
OF_PROJECT = {"libadvance_step.so", "libadvance_step_operators.so", "libadvance_step_aten.so"}
# Refusals whose result is an object that the caller provides, and how many bytes of an object they zero.
BY_ADDRESS = ("operator", "text")
ZEROED = {"handle": 24, "operator": 24}
# Libraries of which the catalogue has no names.
WITHOUT_NAMES = ("libascend_dump", "libexe_graph", "libgraph", "libmetadef", "libop_common", "libregister")
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "src/catalogue"))

from catalogue import LIBRARY, Catalogue  # noqa: E402


class Dl_info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("address", ctypes.c_void_p)]


def exports(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.split()[-2] != "A"}


def where(handle, name):
    """Returns the file that has the definition which a program gets, or None."""
    try:
        address = ctypes.cast(handle[name], ctypes.c_void_p)
    except AttributeError:
        return None
    info = Dl_info()
    ctypes.CDLL(None).dladdr(address, ctypes.byref(info))
    return pathlib.Path(os.fsdecode(info.file)).name


def check_library(library, names, folder, runtime):
    """Yields what is wrong with a library that has these names: {name: whether it defines it itself}."""
    file = folder / f"{library}.so"
    if not file.exists():
        yield f"{TABLES} has names of {library}, which is not there; add it to src/cann/CMakeLists.txt"
        return
    dynamic = subprocess.run(["readelf", "-d", file], check=True, capture_output=True,
                             text=True).stdout
    if f"Library soname: [{library}.so]" not in dynamic:
        yield f"{library}.so has another SONAME"
    if "Shared library: [libadvance_step.so." not in dynamic:
        yield f"{library}.so does not depend on libadvance_step"
    handle = ctypes.CDLL(str(file))
    # check_graph_exports.py looks at the names of libgraph.
    for name in sorted(exports(file)) if library != "libgraph" else ():
        home, own = where(handle, name), names.get(name, False)
        if own and name in runtime:
            yield f"{name} is in libadvance_step; take it from src/cann, or give it a family that is defined there"
        elif not own and home == f"{library}.so":
            yield f"{library}.so forwards {name}, and no library has it; define it in src or op_host"
        elif own and home != f"{library}.so":
            yield f"{name} of {library}.so is in {home}; define it in src/cann"


def check(folder, advance_step):
    # The library that is tested, and no other of that SONAME.
    library = ctypes.CDLL(advance_step)
    runtime = exports(advance_step)
    yield from check_refusals(folder, library)
    libraries = {**dict.fromkeys(WITHOUT_NAMES, {}), **Catalogue(ROOT).prefix_names()}
    for library, names in sorted(libraries.items()):
        yield from check_library(library, names, folder, runtime)
    built = {file.name for file in folder.glob("*.so")} - OF_PROJECT
    for name in sorted(built - {f"{library}.so" for library in libraries}):
        yield f"{name} is in the prefix, and no row of {TABLES} has a name of it"
    for path in sorted(CLIENTS.glob("*.txt")):
        yield from check_client(path, folder)


def check_refusals(folder, runtime):
    """Yields what is wrong with the functions of the prefix that only refuse: each records what its row says."""
    runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
    for function in Catalogue(ROOT).refusing():
        if function.exported_by() == LIBRARY or (function.returns in BY_ADDRESS and platform.machine() != "x86_64"):
            continue
        call = ctypes.CDLL(str(folder / f"{function.libraries[-1]}.so"))[function.name]
        call.restype = ctypes.c_void_p
        given = ctypes.create_string_buffer(b"\xab" * 64, 64)
        runtime.aclGetRecentErrMsg()
        result = call(given) or 0
        message = (runtime.aclGetRecentErrMsg() or b"").decode()
        if not message.endswith(f": {function.family.refusal}") or message.startswith("_Z"):
            yield f"{function.name} of {function.libraries[-1]}.so records \"{message}\"; expected its refusal"
        zeros = ZEROED.get(function.returns, 0)
        if given.raw[zeros:] != b"\xab" * (64 - zeros) or given.raw[:zeros].strip(b"\0"):
            if function.returns != "text":
                yield f"{function.name} wrote {given.raw}; expected {zeros} bytes of zeros"
        wanted = {"": 207000, "failed": 0xFFFFFFFF, "undefined": 0xFFFFFFFF, "zero": 0,
                  "self": ctypes.addressof(given)}.get(function.returns)
        if wanted is not None and (result & 0xFFFFFFFF if wanted >> 32 == 0 else result) != wanted:
            yield f"{function.name} returns {result}; expected {wanted}"


def check_client(path, folder):
    """Yields what is wrong for a client that binds its names through any of the libraries that it depends on."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    # A list of several clients names no libraries: any of the prefix will do.
    needed = [line for line in lines if line.endswith(".so")] or sorted(file.name for file in folder.glob("*.so"))
    bound = [ctypes.CDLL(str(folder / name)) for name in needed]
    for line in lines:
        if line.endswith(".so"):
            continue
        name = line.removeprefix("- ")
        there = any(where(handle, name) is not None for handle in bound)
        if not there and line == name:
            yield f"{path.stem} binds {name}, and no library of the prefix has it; add it to {TABLES}"
        elif there and line != name:
            print(f"{path.name}: {name} is in the prefix now; take the \"- \" off, so that it stays there")


def main():
    problems = list(check(pathlib.Path(sys.argv[1]), sys.argv[2]))
    for problem in problems:
        print(problem)
    lines = [line for path in CLIENTS.glob("*.txt") for line in path.read_text().splitlines() if line[:1] != "#"]
    absent = sum(line.startswith("- ") for line in lines)
    print(f"{len(lines) - absent} names and libraries that clients bind are there, and {absent} may be missing")
    return 1 if problems or len(lines) < 240 else 0


if __name__ == "__main__":
    sys.exit(main())
