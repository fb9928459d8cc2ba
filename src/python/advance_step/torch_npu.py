# SPDX-License-Identifier: Apache-2.0
"""The published torch_npu on the emulated device.

As a program's first import, before torch:

    import advance_step.torch_npu

or for a program that is not changed, with the arguments that python itself takes:

    python -m advance_step.torch_npu program.py arguments
    python -m advance_step.torch_npu -m module arguments
    python -m advance_step.torch_npu -c code

--help and --version of the module itself stand in the place of a program.

Both set the variables of the prefix for this process and its children. docs/torch_npu.md has more.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import sys
import warnings

from . import __version__, _aclnn_operators, _cann, _extension, _host_operators, _torch_versions
from ._elf import undefined_names
from ._npu.table import operator
from ._torch_versions import TRIED

__all__ = ["TRIED", "aclnn_calls", "aclnn_operators", "operator"]

_NAME = "advance_step.torch_npu"  # of this module, also where it is __main__
_INSTALL = f"pip install torch=={TRIED[-1]} torch_npu=={TRIED[-1]}"
_HELP = """Runs a program with the published torch_npu on the emulated device. Options of Python, such as -O,
stand before -m. Without a program, python reads one from its standard input.

settings, as variables of the environment:
  ADVANCE_STEP_HOST_OPERATORS=1|queue|aclnn|python|0  how operators of torch run; default 1
  ADVANCE_STEP_MEMORY=BYTES[K|M|G]                    memory of each device; default: what the host has available
  ADVANCE_STEP_LOG=LEVEL                              the library's log; default off
  ASCEND_RT_VISIBLE_DEVICES=0,1                       the devices that the program sees

`python -m advance_step` tells what the environment has. docs/torch_npu.md has more."""
# Undefined names of torch_npu that CANN has. Its other ones are torch's and the C library's.
_NAMES = re.compile(r"(acl|tdt|Hccl|Msprof|rt[A-Z]|_ZNK?2ge)")


def aclnn_operators() -> tuple[str, ...]:
    """Returns the operators of torch, such as "aten::add.Tensor", that torch_npu's own code runs by
    aclnn functions because ADVANCE_STEP_HOST_OPERATORS is aclnn. All others run by torch's kernels."""
    return tuple(f"aten::{name}" for name in _aclnn_operators.table())


def aclnn_calls(function: str | None = None) -> int:
    """Returns how many calls of an aclnn function, such as "aclnnAdd", or of all have queued their task.
    Those of AdvanceStep and its kin are not counted."""
    return _aclnn_operators.calls(function)


def _folder() -> pathlib.Path:
    """Returns the folder of torch_npu, which is not imported here."""
    found = importlib.util.find_spec("torch_npu")
    if found is None or found.origin is None:
        raise ImportError(f"torch_npu is not installed; expected {_INSTALL}", name="torch_npu")
    return pathlib.Path(found.origin).parent


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _check_version() -> None:
    """Warns of a torch_npu that was not tried, and says what is lost with its torch."""
    version, torch = _version("torch_npu"), _version("torch")
    if _torch_versions.plain(version) in TRIED:
        return
    reason = _extension.obstacle(torch) if _extension.find(torch) is None else ""
    if reason:
        lost = f"there is no extension for torch {torch}: {reason}. So {_torch_versions.LOST}"
    else:
        lost = (f"the extension for torch {torch} is there, or is compiled at the import of torch, and another warning "
                "names each part that does not fit")
    warnings.warn(f"torch_npu is version {version}; versions tried: {', '.join(TRIED)}; {lost}", stacklevel=3)


def _check_names(folder: pathlib.Path, libraries: dict[str, ctypes.CDLL]) -> None:
    """Raises ImportError if torch_npu binds names that no library of the prefix has."""
    missing = set()
    for file in sorted((folder / "lib").glob("lib*.so")):
        if file.name in ("libtorch_npu.so", "libtensorpipe.so"):
            missing |= {name for name in undefined_names(file) if _NAMES.match(name)
                        and not any(hasattr(library, name) for library in libraries.values())}
    if missing:
        raise ImportError("torch_npu binds names that the emulated CANN does not have: "
                          + ", ".join(sorted(missing)), name="torch_npu")


def _enable() -> None:
    """Makes `import torch_npu` of this process and its children find the emulated device."""
    if "torch_npu" in sys.modules and not _is_emulated():
        raise ImportError("torch_npu was imported before advance_step.torch_npu; expected it to be "
                          "the program's first import", name="torch_npu")
    # Found later, it would be hidden behind torch's own words about a failed backend.
    _host_operators.checked_mode()
    folder = _folder()
    _check_version()
    os.environ.update(_cann.variables())
    # torch_npu logs failures that it raises as well, and some that it mends by itself.
    os.environ["ADVANCE_STEP_LOG"] = os.environ.get("ADVANCE_STEP_LOG") or "off"
    _cann.find_pyacl()
    _check_names(folder, _cann.load())
    import _advance_step_startup
    _advance_step_startup.install()


def _is_emulated() -> bool:
    """Returns whether the process has loaded the prefix: its libraries are there by SONAME alone."""
    try:
        ctypes.CDLL("libadvance_step_private.so", mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _own_words() -> str | None:
    """Returns what the command prints that asks for no program, or None."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first in ("-h", "--help"):
        return f"usage: python -m {_NAME} [program.py | -m module | -c code] [arguments]\n\n{_HELP}"
    if first in ("-V", "--version"):
        tried = ", ".join(TRIED)
        return f"advance_step {__version__}; versions of torch_npu tried: {tried}"
    return None


def _main() -> None:
    """Becomes the interpreter that runs the program, with the variables of the prefix."""
    words = _own_words()
    if words is not None:
        print(words)
        return
    _enable()
    _cann.become(_NAME, sys.argv[1:])


if __name__ == "__main__":
    try:
        _main()
    except ImportError as error:
        sys.exit(f"python -m {_NAME}: {error}")
else:
    _enable()
