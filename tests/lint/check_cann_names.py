#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each library of the prefix like CANN's has the names of its list, and the lists lose none.

check_cann_names.py FOLDER libadvance_step.so   FOLDER: the libraries, build/<preset>/cann/lib64
check_cann_names.py --update                    adds to the lists what the headers have declared
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = ROOT / "src" / "cann" / "names"
CLIENTS = ROOT / "src" / "cann" / "clients"
DECLARATION = re.compile(r"ADVSTEP_(?:PREFIX_)?API\s+[\w\s*]*?(\w+)\s*\(")
# The libraries that CANN has the functions of a header in. The last pattern that fits counts.
HOMES = {
    "acl/**/*.h": ("libascendcl", "libacl_rt"),
    "acl/acl_op.h": ("libascendcl",),
    "acl/acl_op_compiler.h": ("libacl_op_compiler",),
    "aclnn/*.h": ("libnnopbase",),
    "aclnnop/*.h": ("libopapi", "libopapi_math", "libopapi_nn"),
}
OWN_HEADERS = ("acl/acl_op.h", "acl/acl_op_compiler.h")


class Dl_info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("address", ctypes.c_void_p)]


def read_list(path):
    """Returns {name: whether the library itself defines it}."""
    names = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if words and words[0] != "#":
            names[words[0]] = words[1:] == ["own"]
    return names


def homes():
    """Returns {function: (header, libraries)} of the public headers."""
    found = {}
    for pattern, libraries in HOMES.items():
        for header in (ROOT / "include").glob(pattern):
            text = re.sub(r"^\s*#.*$", "", header.read_text(), flags=re.M)
            for name in DECLARATION.findall(text):
                found[name] = (header.relative_to(ROOT / "include").as_posix(), libraries)
    return found


def update():
    for name, (header, libraries) in homes().items():
        for library in libraries:
            path = LISTS / f"{library}.txt"
            names = read_list(path)
            if name not in names:
                names[name] = header in OWN_HEADERS
                head = [line for line in path.read_text().splitlines() if line.startswith("#")]
                lines = [f"{key} own" if own else key for key, own in sorted(names.items())]
                path.write_text("\n".join(head + lines) + "\n")


def exports(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    # check_graph_exports.py looks at the names of C++.
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()
            if line.split()[-2] != "A" and not line.split()[-1].startswith("_Z")}


def where(handle, name):
    """Returns the file that has the definition which a program gets, or None."""
    try:
        address = ctypes.cast(handle[name], ctypes.c_void_p)
    except AttributeError:
        return None
    info = Dl_info()
    ctypes.CDLL(None).dladdr(address, ctypes.byref(info))
    return pathlib.Path(os.fsdecode(info.file)).name


def check_library(path, folder, runtime):
    """Yields what is wrong with the library of one list."""
    library = path.stem
    file = folder / f"{library}.so"
    dynamic = subprocess.run(["readelf", "-d", file], check=True, capture_output=True,
                             text=True).stdout
    if f"Library soname: [{library}.so]" not in dynamic:
        yield f"{library}.so has another SONAME"
    if "Shared library: [libadvance_step.so." not in dynamic:
        yield f"{library}.so does not depend on libadvance_step"
    handle = ctypes.CDLL(str(file))
    names = read_list(path)
    for name in sorted(exports(file) - set(names)):
        yield f"{library}.so has {name}, and names/{path.name} does not"
    for name, own in names.items():
        home = where(handle, name)
        if home is None:
            yield f"{library}.so has no {name}"
        elif own and name in runtime:
            yield f"{name} is in libadvance_step: take it from src/cann, and \"own\" from {path.name}"
        elif not own and home == f"{library}.so":
            yield f"{library}.so forwards {name}, and no library has it"
        elif own and home != f"{library}.so":
            yield f"{name} of {library}.so is in {home}"


def check(folder, advance_step):
    # The library that is tested, and no other of that SONAME.
    ctypes.CDLL(advance_step)
    runtime = exports(advance_step)
    lists = sorted(LISTS.glob("*.txt"))
    for path in lists:
        yield from check_library(path, folder, runtime)
    built = {file.name for file in folder.glob("*.so")} - {"libadvance_step.so"}
    for name in sorted(built - {f"{path.stem}.so" for path in lists}):
        yield f"{name} has no list in names/"
    for name, (header, libraries) in sorted(homes().items()):
        for library in libraries:
            if name not in read_list(LISTS / f"{library}.txt"):
                yield f"{name} of {header} is not in names/{library}.txt: --update adds it"
    # A client binds its names through any of the libraries that it depends on.
    for path in sorted(CLIENTS.glob("*.txt")):
        needed = read_list(path)
        bound = [ctypes.CDLL(str(folder / name)) for name in needed if name.endswith(".so")]
        for name in needed:
            if not name.endswith(".so") and all(where(handle, name) is None for handle in bound):
                yield f"{path.stem} binds {name}, and no library of the prefix has it"


def main():
    if sys.argv[1:] == ["--update"]:
        update()
        return 0
    problems = list(check(pathlib.Path(sys.argv[1]), sys.argv[2]))
    for problem in problems:
        print(problem)
    total = sum(len(read_list(path)) for path in LISTS.glob("*.txt"))
    print(f"{total} names in {len(list(LISTS.glob('*.txt')))} libraries")
    return 1 if problems or total < 350 else 0


if __name__ == "__main__":
    sys.exit(main())
