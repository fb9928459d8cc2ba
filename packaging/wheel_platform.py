#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the platform tag that is true of a wheel: manylinux_2_N_MACHINE, by the symbols in it.

    wheel_platform.py WHEEL

N is the oldest glibc that has every version of symbols that a library asks for. The C++ runtime counts
too: a system of that glibc has the libstdc++ of the same time. The wheel must not need other libraries
of the system, and no names of the interpreter, because it is one for any Python 3.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# The libraries that every system of a manylinux tag has (PEP 599, PEP 600).
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)|ld-linux-[\w-]+)\.so\.\d+")
# Only the extension for torch needs these, and it is loaded only beside them.
TORCH = {"libtorch_cpu.so", "libtorch.so", "libc10.so"}
EXTENSION = "_torch_kernels-"
# The glibc of the oldest systems that have a libstdc++ with these symbols, the versions of GCC 8 to 14.
RUNTIME = {"GLIBCXX": [((3, 4, 25), 28), ((3, 4, 28), 31), ((3, 4, 29), 34), ((3, 4, 30), 35),
                       ((3, 4, 32), 38), ((3, 4, 33), 39)],
           "CXXABI": [((1, 3, 11), 28), ((1, 3, 12), 31), ((1, 3, 13), 34), ((1, 3, 14), 38),
                      ((1, 3, 15), 39)],
           "GCC": [((7, 0, 0), 28), ((12, 0, 0), 35), ((13, 0, 0), 38), ((14, 0, 0), 39)]}


def objdump(*arguments):
    return subprocess.run(["objdump", *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


def glibc_of(kind, version):
    """The minor version of glibc 2 that comes with a version of symbols, such as GLIBCXX_3.4.30."""
    numbers = tuple(map(int, version.split(".")))
    if kind == "GLIBC":
        return numbers[1]
    for known, minor in RUNTIME[kind]:
        if numbers <= known:
            return minor
    raise ValueError(f"{kind}_{version} is of a compiler newer than those that this script knows")


def examine(library, name, inside):
    """Returns the glibc that a library needs, its machine, and what forbids the tag."""
    text = objdump("-p", library)
    machine = re.search(r"file format elf64-(\S+)", text)[1]
    allowed = inside | (TORCH if EXTENSION in name else set())
    wrong = [f"{name} needs {needed}" for needed in re.findall(r"^ +NEEDED +(\S+)$", text, re.M)
             if not SYSTEM.fullmatch(needed) and needed not in allowed]
    symbols = objdump("-T", library)
    wrong += [f"{name} needs {symbol} of the interpreter"
              for symbol in re.findall(r"\*UND\*\s+\S+\s+(?:\(?\S+\)?\s+)?(_?Py[A-Z_]\w+)$", symbols, re.M)]
    minor = 17
    for kind, version in re.findall(r"^ +0x\S+ 0x\S+ \d+ (GLIBC|GLIBCXX|CXXABI|GCC)_(\S+)$", text, re.M):
        if re.fullmatch(r"[\d.]+", version):
            minor = max(minor, glibc_of(kind, version))
        else:
            wrong.append(f"{name} needs {kind}_{version}, which is no version of a public symbol")
    return minor, machine, wrong


def main(wheel):
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch)
        libraries = [file for file in pathlib.Path(scratch).rglob("*.so*") if file.is_file()]
        inside = {file.name for file in libraries}
        found = [examine(file, str(file.relative_to(scratch)), inside) for file in sorted(libraries)]
    wrong = [line for _, _, lines in found for line in lines]
    machines = {machine for _, machine, _ in found}
    if not any(EXTENSION in name for name in inside):
        wrong.append(f"{wheel} has no extension for torch")
    if len(machines) != 1:
        wrong.append(f"{wheel} has libraries for {sorted(machines)}; expected one machine")
    if wrong:
        sys.exit("\n".join(wrong))
    machine = {"x86-64": "x86_64", "littleaarch64": "aarch64"}[machines.pop()]
    print(f"manylinux_2_{max(minor for minor, _, _ in found)}_{machine}")


if __name__ == "__main__":
    main(*sys.argv[1:])
