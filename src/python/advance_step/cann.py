# SPDX-License-Identifier: Apache-2.0
"""Programs for CANN on the emulated device: pyACL, the module acl, and libraries by name.

As a program's first import:

    import advance_step.cann
    import acl

or for a program that is not changed, with the arguments that python itself takes:

    python -m advance_step.cann program.py arguments
    python -m advance_step.cann -m module arguments
    python -m advance_step.cann -c code

Both set the variables of the prefix, as its set_env.sh does, for this process and its children.
"""

from __future__ import annotations

import os
import sys

from . import _cann

__all__: list[str] = []

_NAME = "advance_step.cann"  # of this module, also where it is __main__


def _enable() -> None:
    """Lets this process and its children find the prefix."""
    os.environ.update(_cann.variables())
    _cann.find_pyacl()


def _main() -> None:
    """Becomes the interpreter that runs the program, with the variables of the prefix."""
    _enable()
    _cann.become(_NAME, sys.argv[1:])


if __name__ == "__main__":
    try:
        _main()
    except ImportError as error:
        sys.exit(f"python -m {_NAME}: {error}")
else:
    _enable()
