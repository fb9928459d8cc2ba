# SPDX-License-Identifier: Apache-2.0
"""The lines of the program in call stacks: findings of the sanitizer, leaks, hangs, crashes.

The extension reads them where a call stack is taken, without the interpreter's lock, as the frames lie
in memory. What it reads is compared with what Python says before the first call stack asks for it.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import pathlib
import sys
from typing import Any


def _reads_frames(library: ctypes.CDLL) -> bool:
    """Returns whether the extension knows the frames of this interpreter."""
    if sys.implementation.name != "cpython" or hasattr(sys, "getobjects"):  # whose objects are larger
        return False
    library.advstep_torch_python_frames.restype = ctypes.c_size_t
    text = ctypes.create_string_buffer(4096)
    frame = sys._getframe()
    size, line = library.advstep_torch_python_frames(text, ctypes.c_size_t(len(text))), frame.f_lineno
    name = getattr(frame.f_code, "co_qualname", "")  # of Python 3.11 and later
    wanted = f"{frame.f_code.co_filename}:{line} in {name}"
    return text.raw[:size].decode("utf-8", "replace").split("\n")[0] == wanted


def show(torch: Any, library: ctypes.CDLL) -> None:
    """Makes call stacks show the lines of Python from now until the interpreter ends."""
    if not _reads_frames(library):
        return
    torch_npu = sys.modules.get("torch_npu")  # none where only the extension is loaded
    packages = [pathlib.Path(__file__).resolve().parent, pathlib.Path(torch.__file__).parent]
    if torch_npu is not None and torch_npu.__file__:
        packages.append(pathlib.Path(torch_npu.__file__).parent)
    choose = ctypes.CDLL("libascendcl.so").advstepSetScriptFrames
    library.advstep_torch_show_python(ctypes.cast(choose, ctypes.c_void_p),
                                      "\n".join(f"{folder}{os.sep}" for folder in packages).encode())
    atexit.register(choose, None)  # frames of other threads go while the interpreter ends
