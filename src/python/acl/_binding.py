# SPDX-License-Identifier: Apache-2.0
"""Makes functions of Python of a table of C functions.

A line is `name(parameter, ...) = cFunction` or `name(parameter, ...) -> type = cFunction`. A parameter is
`name:type`, with `=number` for a default. One with `>` in front is written by the C function: it is no parameter in
Python, and is returned. Types: i32, u32, i64, u64, f32, p (an address as an int), s (a text). `name:[i64]` is a list,
which C takes as a number and an array. Functions return (values ..., code), or the code alone if there are no
values; with `-> type` what the C function returns, and None with `-> none`.
"""

from __future__ import annotations

import ctypes
import inspect
import operator
import os
import pathlib
import re
import typing

_TYPES = {"i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64,
          "f32": ctypes.c_float, "p": ctypes.c_void_p, "s": ctypes.c_char_p}
_LINE = re.compile(r"(\w+)\(([^)]*)\)(?:\s*->\s*(\w+))?\s*=\s*(\w+)$")
_PARAMETER = re.compile(r"(>?)(\w+):(\[?)(\w+)\]?(?:=(-?\d+))?$")
# Integers have this range. An address is never negative.
_RANGES = {"i32": (-2**31, 2**31 - 1), "u32": (0, 2**32 - 1), "i64": (-2**63, 2**63 - 1),
           "u64": (0, 2**64 - 1), "p": (0, 2**64 - 1)}


class Parameter(typing.NamedTuple):
    name: str
    type: str
    is_output: bool
    is_list: bool
    default: int | None


class Line(typing.NamedTuple):
    """A function of a table."""
    name: str
    parameters: tuple[Parameter, ...]
    result: str  # "code", "none" or one of the types
    function: str


def read_line(text: str) -> Line:
    """Returns the function that a line of a table describes."""
    name, parameters, result, function = _LINE.match(text).groups()
    found = []
    for parameter in filter(None, (word.strip() for word in parameters.split(","))):
        output, own, bracket, kind, default = _PARAMETER.match(parameter).groups()
        found.append(Parameter(own, kind, bool(output), bool(bracket),
                               None if default is None else int(default)))
    return Line(name, tuple(found), result or "code", function)


def library(name: str) -> ctypes.CDLL:
    """Loads a library of the prefix in which this module is, or of the one that ASCEND_HOME_PATH names."""
    own = pathlib.Path(__file__).resolve().parents[3] / "lib64" / name
    if not own.is_file():
        own = pathlib.Path(os.environ.get("ASCEND_HOME_PATH") or "/nonexistent") / "lib64" / name
    if not own.is_file():
        raise ImportError(f"acl: there is no {name} in the prefix of {__file__}, and ASCEND_HOME_PATH is "
                          f"{os.environ.get('ASCEND_HOME_PATH')!r}; expected a prefix like CANN's")
    return ctypes.CDLL(str(own), mode=ctypes.RTLD_GLOBAL)


def integer(where: str, name: str, value, kind: str) -> int:
    """Converts an argument to an int of the range of `kind`."""
    if kind == "p":
        value = 0 if value is None else getattr(value, "value", value)
        value = 0 if value is None else value
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{where}: {name} is {value!r}; expected an integer") from None
    low, high = _RANGES[kind]
    if not low <= number <= high:
        raise ValueError(f"{where}: {name} is {number}; expected {low} to {high}")
    return number


def text(where: str, name: str, value) -> bytes | None:
    """Converts an argument to the bytes of a C string; None is NULL."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, (str, os.PathLike)):
        return os.fsencode(value)
    raise TypeError(f"{where}: {name} is {value!r}; expected a str")


def real(where: str, name: str, value) -> float:
    """Converts an argument to a float."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{where}: {name} is {value!r}; expected a number") from None


def _convert(where: str, name: str, value, kind: str):
    if kind == "s":
        return text(where, name, value)
    return real(where, name, value) if kind == "f32" else integer(where, name, value, kind)


def array(where: str, name: str, values, kind: str):
    """Converts a list of numbers to an array of C; None is an empty one."""
    try:
        values = list(values if values is not None else ())
    except TypeError:
        raise TypeError(f"{where}: {name} is {values!r}; expected a list") from None
    items = [_convert(where, f"{name}[{index}]", value, kind) for index, value in enumerate(values)]
    return (_TYPES[kind] * len(items))(*items)


def from_c(value, kind: str):
    """Converts what C has returned: addresses are ints, 0 for NULL, and texts str."""
    if kind == "p":
        return value or 0
    if kind == "s":
        return "" if value is None else value.decode(errors="replace")
    return value


def _signature(line: Line) -> inspect.Signature:
    taken = [parameter for parameter in line.parameters if not parameter.is_output]
    return inspect.Signature([
        inspect.Parameter(parameter.name, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                          default=inspect.Parameter.empty if parameter.default is None else parameter.default)
        for parameter in taken])


class _Call:
    """What a line calls; the C function is looked up at the first call."""

    def __init__(self, line: Line, where: str, home: typing.Callable[[], ctypes.CDLL]):
        self.line, self.where, self.home = line, where, home
        self.signature = _signature(line)
        self.function = None

    def find(self):
        function = getattr(self.home(), self.line.function)
        types = []
        for parameter in self.line.parameters:
            kind = _TYPES[parameter.type]
            if parameter.is_list:
                types.append(ctypes.c_int)
            types.append(ctypes.POINTER(kind) if parameter.is_output or parameter.is_list else kind)
        function.argtypes = types
        function.restype = {"code": ctypes.c_int32, "none": None}.get(
            self.line.result, _TYPES.get(self.line.result))
        self.function = function

    def arguments(self, given, named):
        """Returns (arguments of C, outputs)."""
        taken = self.signature.parameters
        if named or len(given) != len(taken):
            try:
                bound = self.signature.bind(*given, **named)
            except TypeError as error:
                raise TypeError(f"{self.where}: {error}; expected {self.where}{self.signature}") from None
            bound.apply_defaults()
            given = tuple(bound.arguments.values())
        rest = iter(given)
        passed, outputs = [], []
        for parameter in self.line.parameters:
            if parameter.is_output:
                outputs.append((_TYPES[parameter.type](), parameter.type))
                passed.append(ctypes.byref(outputs[-1][0]))
            elif parameter.is_list:
                passed.append(array(self.where, parameter.name, next(rest), parameter.type))
                passed.insert(-1, len(passed[-1]))
            else:
                passed.append(_convert(self.where, parameter.name, next(rest), parameter.type))
        return passed, outputs

    def __call__(self, *given, **named):
        if self.function is None:
            self.find()
        passed, outputs = self.arguments(given, named)
        result = self.function(*passed)
        if self.line.result == "none":
            return None
        result = from_c(result, self.line.result)
        return (*(from_c(output.value, kind) for output, kind in outputs), result) if outputs else result


def bind(module: dict, table: str, name: str = "libascendcl.so") -> None:
    """Adds the functions of a table to the variables of a module. The library is loaded at the first call."""
    loaded: list[ctypes.CDLL] = []

    def home() -> ctypes.CDLL:
        if not loaded:
            loaded.append(library(name))
        return loaded[0]

    for row in table.splitlines():
        if row.strip():
            line = read_line(row.strip())
            module[line.name] = _function(_Call(line, f"{module['__name__']}.{line.name}", home))


def _function(call: _Call):
    def function(*given, **named):
        return call(*given, **named)
    function.__name__ = function.__qualname__ = call.line.name
    function.__module__ = call.where.rpartition(".")[0]
    function.__signature__ = call.signature
    returned = [parameter.name for parameter in call.line.parameters if parameter.is_output]
    returned += {"code": ["code"], "none": []}.get(call.line.result, ["value"])
    function.__doc__ = f"Calls {call.line.function}. Returns {', '.join(returned) or 'None'}."
    return function
