#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""adding_a_call.md of docs/internals is true, and adds another call to a copy of the sources.

    call_page_test.py C++-COMPILER C-COMPILER

A comment in front of a block says what the block is:

    <!-- in: PATH -->  lines of a file; the copy gets them once more below, under another name
    <!-- run -->       commands, which run in the copy

Then the copy has the files that the page lists and no other, its lists have the new function, and what is new in it
compiles. At last it gets a table of a thousand operators, as the page says for many calls at once.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/internals/adding_a_call.md"
BLOCK = re.compile(r"<!-- (in|run)(?:: (.*?))? -->\n```\w*\n(.*?)```\n", re.S)
LISTED = re.compile(r"^\| (`[^|]*`) \| [^|]* \|$", re.M)
CALL, NEW_CALL = "aclrtQueryDeviceStatus", "aclrtQueryMadeUpStatus"
RENAMES = {CALL: NEW_CALL, "DeviceStatusTest, IsNormal": "DeviceStatusTest, MadeUpIsNormal"}
CHECK = "tests/lint/check_catalogue.py"
ABI_DUMP = "tests/abi/libadvance_step.abi"  # written from a library that is built
OPERATORS = 1000


def fail(text):
    sys.exit(f"{PAGE}: {text}")


def run(tree, *command, succeeds=True):
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if (done.returncode == 0) != succeeds:
        print(done.stdout)
        fail(f"`{' '.join(command)}` returned {done.returncode}")
    return done.stdout


def copy_sources(tree):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=False).stdout.splitlines()
    if not listed:  # a tree without git
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git"))
    for name in listed:
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)


def changed_files(tree):
    """The files of the copy that differ from the sources."""
    names = [file.relative_to(tree).as_posix() for file in tree.rglob("*") if file.is_file()]
    return {name for name in names if "__pycache__" not in name and
            not ((ROOT / name).is_file() and (ROOT / name).read_bytes() == (tree / name).read_bytes())}


def add_block(tree, name, text):
    path = tree / name
    whole = path.read_text(encoding="utf-8")
    if whole.count(text) != 1:
        fail(f"{name} does not have once what the page shows of it")
    renamed = text
    for old, new in RENAMES.items():
        renamed = renamed.replace(old, new)
    if renamed == text:
        fail(f"the lines of {name} have no name of the call")
    gap = "" if name.endswith(".csv") else "\n"
    path.write_text(whole.replace(text, text + gap + renamed), encoding="utf-8")


def follow_page(tree, page):
    """Does what the page says. The check of the catalogue names what is missing until all is there."""
    blocks = BLOCK.findall(page)
    if len(blocks) != len(re.findall(r"^<!-- (?:in|run)\b", page, re.M)):
        fail("a mark has no block of code")
    asked = {"include/": f"{NEW_CALL}, which has no row in src/catalogue/functions; add one",
             "src/catalogue/": "make_pages.py --update writes it"}
    for kind, name, text in blocks:
        if kind == "in":
            add_block(tree, name, text)
            for folder, remedy in asked.items():
                if name.startswith(folder) and remedy not in run(tree, CHECK, succeeds=False):
                    fail(f"after the change of {name}, {CHECK} does not say: {remedy}")
        else:
            for line in text.splitlines():
                run(tree, *line.split())
    changed = changed_files(tree)
    listed = {name for cells in LISTED.findall(page) for name in re.findall(r"`(.*?)`", cells)} - {ABI_DUMP}
    if changed != listed:
        fail(f"the call changes {sorted(changed ^ listed)}, and the page does not list it, or lists it in vain")
    return sum(kind == "in" for kind, _, _ in blocks), len(changed)


def make_lists(tree, *arguments):
    run(tree, sys.executable, "-B", "src/catalogue/make_lists.py", *arguments)


def check_lists(tree):
    """The new function is in all lists that the build makes."""
    cmake = (tree / "src/cann/CMakeLists.txt").read_text(encoding="utf-8")
    libraries = re.search(r"set\(cann_libraries (.*?)\)", cmake, re.S)[1]
    make_lists(tree, "prefix", "src/cann/forwarders.c.in", "build/lists", *libraries.split())
    make_lists(tree, "mock", "build/lists/advance_step/testing")
    make_lists(tree, "faults", "build/lists/plain_calls.cpp")
    for name in ("libascendcl.c", "libacl_rt.c", "advance_step/testing/acl_functions.inc", "plain_calls.cpp"):
        if NEW_CALL not in (tree / "build/lists" / name).read_text(encoding="utf-8"):
            fail(f"{name}, which the build makes, has no {NEW_CALL}")


def check_code(tree, cxx, cc):
    flags = ["-std=c++17", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-I.", "-Iinclude", "-Itests"]
    run(tree, cxx, *flags, "-c", "src/acl/acl_device_status.cpp", "-o", "build/call.o")
    run(tree, cc, "-std=c99", "-c", "build/lists/libascendcl.c", "-o", "build/forwards.o")
    for file in ("build/call.o", "build/forwards.o"):
        if f" T {NEW_CALL}\n" not in run(tree, "nm", "-g", file):
            fail(f"{file} does not define {NEW_CALL}")
    for file in ("tests/conformance/device_status_test.cpp", "build/lists/plain_calls.cpp"):
        run(tree, cxx, *flags, "-fsyntax-only", file)


def add_many(tree):
    """A table of operators, their family and their headers, and nothing else."""
    families = tree / "src/catalogue/families.csv"
    families.write_text(families.read_text(encoding="utf-8") +
                        "many,2,libadvance_step,libopapi libopapi_math,,tests/faults/fork_test.cpp,Many,Many,,\n",
                        encoding="utf-8")
    rows = ["name,header,since,support,family,libraries,clients\n"]
    header = ""
    for number in range(OPERATORS):
        name = f"aclnnMany{number}"
        rows.append(f"{name},aclnnop/aclnn_many.h,1.17,yes,many,,\n")
        header += f"ADVSTEP_API aclnnStatus {name}GetWorkspaceSize(const aclTensor* self, aclOpExecutor** executor);\n"
        header += f"ADVSTEP_API aclnnStatus {name}(void* workspace, aclOpExecutor* executor, aclrtStream stream);\n"
    (tree / "src/catalogue/functions/many.csv").write_text("".join(rows), encoding="utf-8")
    (tree / "include/aclnnop/aclnn_many.h").write_text(header, encoding="utf-8")
    run(tree, "src/catalogue/make_pages.py", "--update")
    run(tree, CHECK)
    check_lists(tree)
    for library, wanted in (("libopapi", True), ("libopapi_math", True), ("libopapi_nn", False)):
        names = (tree / f"build/lists/{library}.c").read_text(encoding="utf-8")
        if names.count("FORWARD(aclnnMany") != (2 * OPERATORS if wanted else 0):
            fail(f"{library} has not both phases of each operator, or has them in vain")
    if (tree / "docs/supported_calls.md").read_text(encoding="utf-8").count("| aclnnMany") != OPERATORS:
        fail("the page has no row for each operator")


def main(cxx, cc):
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "advance_step"
        copy_sources(tree)
        by_hand, changed = follow_page(tree, page)
        check_lists(tree)
        check_code(tree, cxx, cc)
        add_many(tree)
    print(f"a call is {by_hand} files by hand, and {changed - by_hand} and the dump of the interface by scripts")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
