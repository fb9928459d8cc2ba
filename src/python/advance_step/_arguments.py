# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments before a call does anything.

ctypes cuts a Python integer to the bits of its C type, and a str at its first zero, without a word.
So no number of a caller reaches ctypes before `integer` has seen it.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

from ._errors import make_error


def refuse_type(call: str, name: str, value: Any, expected: str) -> NoReturn:
    raise TypeError(f"{call}: {name} is of type {type(value).__name__}; expected {expected}")


def integer(call: str, name: str, value: Any, low: int, most: int, code: int) -> int:
    """Returns the number that `value` is; numbers of numpy and torch count too.

    Raises:
        TypeError: it is no integer.
        AdvanceStepError: it is less than `low` or more than `most`; the error has the code.
    """
    try:
        number = operator.index(value)
    except TypeError:
        refuse_type(call, name, value, "an int")
    if not low <= number <= most:
        raise make_error(code, f"{call}: {name} is {number}; expected {low} <= {name} <= {most}")
    return number


def instance(call: str, name: str, value: Any, kind: type) -> Any:
    """Returns the value, which must be an object of the class."""
    if not isinstance(value, kind):
        refuse_type(call, name, value, f"advance_step.{kind.__name__}")
    return value


class OneOwner:
    """An object that owns a handle of the library. A copy would end the handle a second time."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} owns a handle of this process; expected no copy and "
                        "no pickle of it")
