# SPDX-License-Identifier: Apache-2.0
"""The extension for the torch of the process, from the wheel or compiled by its first run.

The wheel has the extension for the torch that built it, and the sources. With another torch the first
program compiles them into a folder of the user's, where later programs find the file. Ranks and other
processes that come meanwhile wait for it by a lock on a file beside it, which ends with its holder. A file
appears there as a whole, and nothing removes it: the folder is a cache. What the compiler says of a failure
stays there as well, so that not each process fails anew; another compiler is tried again.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import pathlib
import sys
import warnings

from . import _extension_compiler, _torch_versions
from ._cann import prefix

_PACKAGE = pathlib.Path(__file__).resolve().parent


def _sources() -> pathlib.Path:
    return _PACKAGE / "torch_kernels"


def _torch() -> pathlib.Path | None:
    """Returns the folder of torch, which is not imported here."""
    found = importlib.util.find_spec("torch")
    return pathlib.Path(found.origin).parent if found is not None and found.origin else None


def cache() -> pathlib.Path:
    """Returns the folder of extensions that were compiled at a first run."""
    named = os.environ.get("XDG_CACHE_HOME") or ""
    home = pathlib.Path(named) if os.path.isabs(named) else pathlib.Path(os.path.expanduser("~"), ".cache")
    return home / "advance_step"


def _compiled(version: str) -> pathlib.Path | None:
    """Returns the path that an extension of these sources for this torch has in the cache, or None if
    nothing can be compiled."""
    torch = _torch()
    if torch is None or not _sources().is_dir():
        return None
    key = _extension_compiler.key(version, torch, _sources(), prefix() / "include")
    return cache() / f"_torch_kernels-{_torch_versions.plain(version)}-{key}.so"


def _failure(compiled: pathlib.Path) -> pathlib.Path:
    """Returns the path that the words of this compiler have, if it has refused the sources."""
    program = _extension_compiler.program() or ""
    about = os.stat(program) if program else None
    told = f"{_extension_compiler.command()} {program} {about and (about.st_size, about.st_mtime_ns)}"
    return compiled.with_suffix(f".{hashlib.sha256(told.encode()).hexdigest()[:8]}.log")


def find(version: str) -> pathlib.Path | None:
    """Returns the path of the extension for this torch, or None if there is none yet."""
    own = _PACKAGE / _torch_versions.file_name(version)
    if own.is_file():
        return own
    compiled = _compiled(version)
    return compiled if compiled is not None and compiled.is_file() else None


def obstacle(version: str) -> str:
    """Returns why no extension for this torch can be compiled, and what would cure it, or ""."""
    compiled = _compiled(version)
    if not _torch_versions.can_build(version):
        return f"it is for torch {_torch_versions.RANGE}"
    if compiled is None:
        return f"no sources are in {_sources()}; expected the wheel (docs/torch_npu.md)"
    if _extension_compiler.program() is None:
        return (f"there is no C++ compiler {_extension_compiler.command()[0]} to build it; expected one for C++20 "
                "(Debian: g++), or its name in CXX")
    failure = _failure(compiled)
    if failure.is_file():
        return f"{_extension_compiler.program()} failed to build it; {failure} has its words, remove it to try again"
    return ""


def _compile(version: str, compiled: pathlib.Path) -> str:
    """Compiles the extension, or waits for a process that does so. Returns why there is none, or ""."""
    torch = _torch()
    assert torch is not None
    compiled.parent.mkdir(parents=True, exist_ok=True)
    with open(compiled.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if compiled.is_file():  # of a process that held the lock
            return ""
        if reason := obstacle(version):
            return reason
        print(f"advance_step: compiles its extension for torch {version} into {compiled.parent}, once, in about a minute",
              file=sys.stderr, flush=True)
        made, failure = compiled.with_suffix(".new"), _failure(compiled)
        words = made.with_suffix(".words")
        try:
            with open(words, "w", encoding="utf-8") as out:
                _extension_compiler.build(torch, _sources(), prefix() / "include", made, out)
        except _extension_compiler.Failed:
            words.rename(failure)
            return obstacle(version)
        words.unlink()
        made.rename(compiled)
    return ""


def get(version: str) -> pathlib.Path | None:
    """Returns the path of the extension for this torch, which is compiled if it must be. Returns None with
    a warning that says what is lost, if there is none."""
    file = find(version)
    if file is not None:
        return file
    reason = obstacle(version)
    if not reason:
        compiled = _compiled(version)
        assert compiled is not None
        try:
            reason = _compile(version, compiled)
        except OSError as error:
            reason = f"it cannot be kept in {compiled.parent}: {error}; expected a folder in XDG_CACHE_HOME"
        if not reason:
            return compiled
    warnings.warn(f"advance_step: there is no extension for torch {version}: {reason}. So {_torch_versions.LOST}",
                  stacklevel=2)
    return None
