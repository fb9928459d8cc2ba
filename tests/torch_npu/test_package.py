# SPDX-License-Identifier: Apache-2.0
"""advance_step.torch_npu beside another torch_npu, without one, and with names that are missing."""

import os
import pathlib
import shutil
import subprocess

import advance_step
import torch

PACKAGE = pathlib.Path(advance_step.__file__).resolve().parent
HOME = PACKAGE / "cann"


def imitation(folder, version, name="torch_npu"):
    """An installed torch_npu, or torch, of another version, which has no code."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("", encoding="utf-8")
    information = folder / f"{name}-{version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
                                          encoding="utf-8")


def test_help_and_version_are_the_modules_own(program):
    assert program.run("--help").stdout.startswith("usage: python -m advance_step.torch_npu [program.py | ")
    assert program.run("--version").stdout == f"advance_step {advance_step.__version__}; versions of torch_npu tried: 2.13.0\n"
    assert program.run("-c", "import sys; print(sys.argv)", "--help").stdout == "['-c', '--help']\n"


def test_the_report_has_what_a_bug_report_needs(program):
    told = program.run("-m", "advance_step").stdout
    for words in (f"library {HOME}", "extension:         for torch 2.13.0\n", "torch_npu:         2.13.0\n", f"prefix:            {HOME}\n"):
        assert words in told, told


def test_another_version_is_a_warning(program, tmp_path):
    imitation(tmp_path, "9.9.9")
    for launcher, text in ((("-m", "advance_step.torch_npu"), "print(1)"),
                           ((), "import advance_step.torch_npu; print(1)")):
        done = program.run("-c", text, launcher=launcher, PYTHONPATH=str(tmp_path))
        assert done.stdout == "1\n"
        assert "torch_npu is version 9.9.9; versions tried: 2.13.0; the extension for torch 2.13.0" in done.stderr


def test_another_version_without_an_extension_is_told_what_is_lost(program, tmp_path):
    imitation(tmp_path, "9.9.9")
    imitation(tmp_path, "2.14.1", "torch")
    for compiler, words in (
            (None, "the extension for torch 2.14.1 is there, or is compiled at the import of torch"),
            ("none", "there is no extension for torch 2.14.1: there is no C++ compiler none to build it; expected one for "
                     "C++20 (Debian: g++), or its name in CXX. So operators of torch run in their Python form, each at "
                     'once, without graphs, "hccl"')):
        done = program.run("-c", "print(1)", PYTHONPATH=str(tmp_path), CXX=compiler)
        assert done.stdout == "1\n"
        assert f"versions tried: 2.13.0; {words}" in done.stderr, done.stderr


GRAPH = """
import torch
import torch_npu
x = torch.arange(4.).npu()
torch.npu.synchronize()
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    y = x + 1
graph.replay()
print(y.cpu())
"""


def without_extension(folder):
    """A copy of the package as a wheel has it that was built without torch."""
    shutil.copytree(PACKAGE, folder / "advance_step", ignore=shutil.ignore_patterns("_torch_kernels-*.so", "__pycache__"),
                    symlinks=True)
    return {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}


def test_the_first_run_compiles_the_extension(program, tmp_path):
    own = without_extension(tmp_path)
    # Fast to compile: nothing of it is measured here.
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nexec c++ "$@" -O0\n', encoding="utf-8")
    compiler.chmod(0o755)
    text = GRAPH + "import torch.distributed as d; print(d.is_backend_available('hccl'))"
    for number in range(2):
        done = program.run("-c", text, CXX=str(compiler), **own)
        assert done.stdout == "tensor([1., 2., 3., 4.])\nTrue\n"
        assert done.stderr.count(f"advance_step: compiles its extension for torch {torch.__version__} into "
                                 f"{tmp_path}/cache/advance_step, once") == (1 if number == 0 else 0), done.stderr
    assert f"none in the wheel; {tmp_path}/cache/advance_step/_torch_kernels-2.13.0-" in program.run(
        "-m", "advance_step", **own).stdout


def test_a_first_run_that_cannot_compile_is_told_what_is_lost_and_goes_on(program, tmp_path):
    own = without_extension(tmp_path)
    done = program.run("-c", "import torch; print((torch.ones(2).npu() + 1).cpu())", CXX="false", **own)
    assert done.stdout == "tensor([2., 2.])\n"
    assert f"there is no extension for torch {torch.__version__}: " in done.stderr
    assert "false failed to build it; " in done.stderr and 'without graphs, "hccl"' in done.stderr
    done = program.run("-c", "import torch", CXX="false", status=1, ADVANCE_STEP_HOST_OPERATORS="aclnn", **own)
    assert "which needs the extension for this torch, 2.13.0" in done.stderr, done.stderr


# Takes names away between the imports of torch and torch_npu, as a version does that has others.
LACKS = """
import warnings
import torch
from advance_step import _torch_versions
_torch_versions.TRIED = {tried}
del torch.autograd._supported_activities, torch.distributed.ProcessGroup._set_sequence_number_for_group
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import torch_npu
for warning in told:
    if ": lost with" in str(warning.message):
        print(str(warning.message).split(": lost")[0])
""" + GRAPH


def test_a_torch_without_a_name_loses_that_part_alone(program):
    own = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = program.run("-c", LACKS.format(tried=()), **own)
    assert done.stdout == "advance_step: torch_npu.profiler\ntensor([1., 2., 3., 4.])\n"
    done = program.run("-c", LACKS.format(tried="'2.13.0',"), status=1, **own)
    assert "AttributeError" in done.stderr and "_supported_activities" in done.stderr


def test_a_missing_name_is_an_error_that_names_it(program, tmp_path):
    imitation(tmp_path, "9.9.9")
    library = tmp_path / "torch_npu" / "lib"
    library.mkdir()
    (tmp_path / "asks.c").write_text(
        "int aclrtMalloc(void); int aclrtOfTomorrow(void); int rtOfTomorrow(void); int puts(const char*);\n"
        "int ask(void) { return aclrtMalloc() + aclrtOfTomorrow() + rtOfTomorrow() + puts(\"\"); }\n",
        encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-fPIC", "asks.c", "-o", library / "libtorch_npu.so"],
                   cwd=tmp_path, check=True)
    message = ("torch_npu binds names that the emulated CANN does not have: "
               "aclrtOfTomorrow, rtOfTomorrow")
    done = program.run("-c", "print(1)", status=1, PYTHONPATH=str(tmp_path))
    assert done.stdout == "" and message in done.stderr and "Traceback" not in done.stderr
    done = program.run("-c", "import advance_step.torch_npu", launcher=(), status=1,
                       PYTHONPATH=str(tmp_path))
    assert f"ImportError: {message}" in done.stderr


def test_no_torch_npu(program, tmp_path):
    (tmp_path / "empty").mkdir()
    shutil.copytree(PACKAGE, tmp_path / "empty" / "advance_step")
    done = program.run("-c", "print(1)", launcher=("-S", "-m", "advance_step.torch_npu"), status=1,
                       PYTHONPATH=str(tmp_path / "empty"))
    assert "torch_npu is not installed; expected pip install torch==2.13.0" in done.stderr


def test_imported_too_late(program, tmp_path):
    imitation(tmp_path, "2.13.0")
    done = program.run("-c", "import torch_npu, advance_step.torch_npu", launcher=(), status=1,
                       PYTHONPATH=str(tmp_path))
    assert "expected it to be the program's first import" in done.stderr


def test_variables_that_are_set_before(program):
    text = ("import os; print(os.environ.get('ADVANCE_STEP_MEMORY'), os.environ['ASCEND_HOME_PATH'],"
            "os.environ['LD_LIBRARY_PATH'])")
    done = program.run("-c", text, ADVANCE_STEP_MEMORY="3G", LD_LIBRARY_PATH="/somewhere")
    assert done.stdout.split() == ["3G", str(HOME), f"{HOME / 'lib64'}:/somewhere"]
    done = program.run("-c", text, ASCEND_HOME_PATH="/opt/another")
    assert done.stdout.split() == [str(os.environ.get("ADVANCE_STEP_MEMORY")), str(HOME), str(HOME / "lib64")]


def test_the_prefix_of_the_wheel_is_whole():
    for name in ("set_env.sh", "opp/version.info", "runtime/version.info", "compiler/version.info",
                 "include/acl/acl.h", "include/acl/acl_op_compiler.h", "lib64/libascendcl.so"):
        assert (HOME / name).is_file(), name
    assert not list(HOME.rglob("libcust_opapi*"))
    assert "9.2.0" in next(HOME.glob("*-linux/ascend_toolkit_install.info")).read_text()
    assert os.path.expanduser("~") not in (HOME / "set_env.sh").read_text()


def test_the_programs_of_the_page(program):
    """Cut from the page, run as it says, with the output that it shows."""
    from conftest import FOLDER

    programs = []
    for page in ("torch_npu.md", "torch_npu.zh.md"):
        text = (FOLDER.parents[1] / "docs" / page).read_text(encoding="utf-8")
        programs.append(text.split("```python\n")[1].split("```")[0])
    assert programs[0] == programs[1]
    printed = [line.split("  # ")[1] for line in programs[0].splitlines() if line.startswith("print")]
    assert program.code(programs[0]).stdout.splitlines() == printed
