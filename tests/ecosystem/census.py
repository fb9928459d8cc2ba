# SPDX-License-Identifier: Apache-2.0
"""Tries published packages of the Ascend ecosystem, unchanged, on the emulated device.

    python census.py [--update] [PACKAGE ...]

run.sh starts it in the environment of tests/torch_npu. Each package of packages.json is installed from the
index into a folder of its own in build/ecosystem. Its compiled files are looked at: which of CANN's
libraries and names they bind at load, and which of these the prefix has. Then its program runs. --update
writes the table of docs/ecosystem.md.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

from advance_step import _cann, _elf

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PAGE = ROOT / "docs" / "ecosystem.md"
PACKAGES = json.loads((FOLDER / "packages.json").read_text(encoding="utf-8"))
MARKS = "<!-- census -->\n", "<!-- /census -->\n"
# Names of CANN's libraries, plain or mangled.
CANNS = re.compile(r"(acl|Acl|rt[A-Z]|Hccl|hal[A-Z]|drv[A-Z]|Msprof|Dlog|CheckLogLevel|_ZNK?(2ge|2fe|4adxl|3atb)|aclnn)")
SECONDS = 300


def install(package, folder):
    """Returns an error of pip, or None."""
    if not (folder / "installed").is_file():
        done = subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install",
                               "--no-deps", "--no-compile", "--no-cache-dir", "--only-binary=:all:", "--upgrade",
                               "--target", folder, f"{package['name']}=={package['version']}",
                               *package.get("with", [])], capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["no message"])[-1]
        (folder / "installed").touch()
    return None


def needed(file):
    """Returns the libraries that the file names."""
    done = subprocess.run(["readelf", "--dynamic", "--wide", file], capture_output=True, text=True)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)


def bound(folder):
    """Returns what the files bind of CANN, and what of that is missing: (names, libraries) each."""
    there = {file.name for file in (_cann.prefix() / "lib64").glob("lib*.so*")}
    defined = {name for file in (_cann.prefix() / "lib64").glob("lib*.so*") for name in _elf.defined_names(file)}
    files = [file for file in folder.rglob("*.so*") if file.is_file() and not file.is_symlink()]
    own = {name for file in files for name in _elf.defined_names(file)}
    names = {name for file in files for name in _elf.undefined_names(file) if CANNS.match(name)} - own
    wanted = {name for file in files for name in needed(file)} & CANN_LIBRARIES
    return names, names - defined, wanted - there - {file.name for file in files}


# Those of the prefix, and others that CANN has and packages name.
CANN_LIBRARIES = {file.name for file in (_cann.prefix() / "lib64").glob("lib*.so")} | {
    "libacl_cblas.so", "libacl_dvpp.so", "libacl_dvpp_mpi.so", "libascend_protobuf.so", "libmsprof.so", "libtiling_api.so",
    "libregister.so", "libruntime_camodel.so", "libhcom_graph_adaptor.so", "libmki.so"}


def run(package, folder):
    """Returns whether the program ended well, and its last line."""
    program = FOLDER / "programs" / f"{package['program']}.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(FOLDER / "programs")])}
    try:
        done = subprocess.run([sys.executable, "-m", "advance_step.torch_npu", program], text=True, env=environment,
                              capture_output=True, timeout=SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        return False, f"no end within {SECONDS} s"
    lines = [line for line in (done.stdout if done.returncode == 0 else done.stderr).splitlines()
             if line.strip() and not line.startswith("[ERROR]")]
    last = re.sub(re.escape(str(ROOT)) + r"\S*/", "", lines[-1].strip()) if lines else "no output"
    return done.returncode == 0, last if done.returncode >= 0 else f"signal {-done.returncode}: {last}"


def try_one(package):
    folder = ROOT / "build" / "ecosystem" / package["name"]
    folder.mkdir(parents=True, exist_ok=True)
    error = install(package, folder)
    if error:
        return package["name"], package["version"], "", "not to be had", error
    names, missing, libraries = bound(folder)
    binds = f"{len(names) - len(missing)} of {len(names)}" if names else "none"
    right, last = run(package, folder)
    lacks = ", ".join(sorted(libraries) + sorted(missing)[:3]) + (" ..." if len(missing) > 3 else "")
    return package["name"], package["version"], binds, package["shows"] if right else "stops", (
        "; ".join(part for part in (lacks and f"missing: {lacks}", "" if right else last[:160]) if part))


def table(rows):
    head = ("package", "version", "names of CANN bound at load", "what ran", "what stops it, or is missing")
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("packages", nargs="*")
    options = parser.parse_args()
    unknown = set(options.packages) - {package["name"] for package in PACKAGES}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: not in packages.json")
    rows = []
    for package in PACKAGES:
        if not options.packages or package["name"] in options.packages:
            rows.append(try_one(package))
            print(" | ".join(rows[-1]), flush=True)
    if options.update:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        PAGE.write_text(before + MARKS[0] + table(rows) + MARKS[1] + rest.partition(MARKS[1])[2], encoding="utf-8")
    return 0 if all(row[3] != "stops" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
