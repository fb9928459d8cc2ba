# SPDX-License-Identifier: Apache-2.0
"""The prefix in the shape of CANN's: where it is, its variables, and its libraries."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys

# A client finds a library by its SONAME once the process has loaded it, so nothing has to be on
# LD_LIBRARY_PATH. Those that a client binds come before those that it looks up by name.
OPERATORS = ("libopapi.so", "libopapi_nn.so", "libopapi_math.so", "libopapi_transformer.so",
             "libopapi_cv.so")
LIBRARIES = ("libascendcl.so", "libacl_op_compiler.so", "libhccl.so", "libhcomm.so", "libge_runner.so",
             "libgraph.so", "libacl_tdt_channel.so", *OPERATORS, "libnnopbase.so", "libacl_rt.so",
             "libruntime.so", "libprofapi.so", "libascend_hal.so")


def _is_prefix(folder: pathlib.Path) -> bool:
    return (folder / "lib64" / "libadvance_step_private.so").is_file()


def prefix() -> pathlib.Path:
    """Returns the prefix that ASCEND_HOME_PATH names, if it is one of this project, or else that of
    the package."""
    named = os.environ.get("ASCEND_HOME_PATH")
    if named and _is_prefix(pathlib.Path(named)):
        return pathlib.Path(named).resolve()
    own = pathlib.Path(__file__).resolve().parent / "cann"
    if _is_prefix(own):
        return own
    raise ImportError(f"there is no prefix like CANN's in {own}, as the wheel has it, and "
                      f"ASCEND_HOME_PATH is {named!r}; expected the wheel, or ASCEND_HOME_PATH as "
                      "the set_env.sh of an installed prefix sets it")


def python_folder() -> pathlib.Path:
    """Returns the folder of the prefix that has pyACL, the module acl."""
    return prefix() / "python" / "site-packages"


def find_pyacl() -> None:
    """Lets this process import the module acl."""
    folder = str(python_folder())
    if folder not in sys.path:
        sys.path.insert(1, folder)  # behind the folder of the program, as PYTHONPATH would be


def own_options(name: str) -> list[str]:
    """Returns the options of the interpreter, such as -B, that stand before the module `name` in the command
    `python -m name`."""
    whole = getattr(sys, "orig_argv", [])  # since Python 3.10
    given = list(whole[1:len(whole) - len(sys.argv) + 1])
    if not given:
        return []
    last = given.pop()
    if last == name:
        cluster = given.pop()  # "-m", or several options in one, as in "-Bm"
    else:
        cluster = last[:-len(name)]  # "-mNAME"
    return given if cluster == "-m" else [*given, cluster[:-1]]


def become(name: str, arguments: list[str]) -> None:
    """Becomes the interpreter with these arguments, and with the variables of the prefix. `name` is the
    module that was started with -m."""
    os.execv(sys.executable, [sys.executable, *own_options(name), *arguments])


def wants_operators() -> bool:
    """Returns whether torch_npu is to find the names of CANN's operators."""
    return os.environ.get("ADVANCE_STEP_HOST_OPERATORS") == "aclnn"


def _operator_folder(home: pathlib.Path) -> pathlib.Path:
    """Returns the folder of OPERATORS. torch_npu chooses its code by the names that it finds there, so
    those of CANN's operators are hidden from it unless the user wants them."""
    plain = home / "lib64" / "plain"
    return home / "lib64" if wants_operators() or not plain.is_dir() else plain


def own_functions() -> list[pathlib.Path]:
    """Returns the libopapi.so that has the names of AdvanceStep and its kin only, if there is one."""
    home = pathlib.Path(os.environ.get("ASCEND_HOME_PATH") or "/nonexistent")
    folder = home / "lib64" / "plain"
    file = (folder if folder.is_dir() else folder.parent) / "libopapi.so"
    return [file] if file.is_file() else []


def library(name: str) -> pathlib.Path:
    """Returns the path of one of LIBRARIES, as torch_npu gets it."""
    home = prefix()
    folder = _operator_folder(home) if name in OPERATORS else home / "lib64"
    return folder / name


def load_operators() -> None:
    """Loads OPERATORS, so that torch_npu finds these by name, whatever LD_LIBRARY_PATH has."""
    for name in OPERATORS:
        ctypes.CDLL(str(library(name)), mode=ctypes.RTLD_GLOBAL)


def load_atb() -> None:
    """Loads CANN's library for ATB, so that torch_npu can declare the operators of torch.ops.atb."""
    ctypes.CDLL(str(prefix() / "lib64" / "libatb.so"))


def _in_front(folders: list[str], paths: str) -> str:
    rest = [path for path in paths.split(os.pathsep) if path and path not in folders]
    return os.pathsep.join(folders + rest)


def variables() -> dict[str, str]:
    """Returns the variables of set_env.sh, for this process and its children."""
    home = prefix()
    folders = [str(home / "lib64")]
    named = os.environ.get("ADVANCE_STEP_LIBRARY")
    if named and os.path.basename(os.path.abspath(named)).startswith("libadvance_step.so"):
        folders.insert(0, os.path.dirname(os.path.abspath(named)))
    return {
        "ASCEND_HOME_PATH": str(home),
        "ASCEND_TOOLKIT_HOME": str(home),
        "ASCEND_OPP_PATH": str(home / "opp"),
        "LD_LIBRARY_PATH": _in_front(folders, os.environ.get("LD_LIBRARY_PATH", "")),
        "PATH": _in_front([str(home / "bin")], os.environ.get("PATH", os.defpath)),
        "PYTHONPATH": _in_front([str(python_folder())], os.environ.get("PYTHONPATH", "")),
    }


def load() -> dict[str, ctypes.CDLL]:
    """Loads the libraries, so that later look-ups of their SONAMEs and names find them."""
    return {name: ctypes.CDLL(str(library(name)), mode=ctypes.RTLD_GLOBAL) for name in LIBRARIES}
