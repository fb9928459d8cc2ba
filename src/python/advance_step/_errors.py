# SPDX-License-Identifier: Apache-2.0
"""Exceptions with the code and the message of the C library."""

from __future__ import annotations

PARAM_NULLPTR = 161001
PARAM_INVALID = 161002
RUNTIME_ERROR = 361001
TILING_ERROR = 561002
NO_PROGRESS = 207005
DATA_ERROR = 507035

_NAMES = {
    PARAM_NULLPTR: "ACLNN_ERR_PARAM_NULLPTR",
    PARAM_INVALID: "ACLNN_ERR_PARAM_INVALID",
    RUNTIME_ERROR: "ACLNN_ERR_RUNTIME_ERROR",
    TILING_ERROR: "ACLNN_ERR_INNER_TILING_ERROR",
    NO_PROGRESS: "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL",
    DATA_ERROR: "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
    100000: "ACL_ERROR_INVALID_PARAM",
    100002: "ACL_ERROR_REPEAT_INITIALIZE",
    100003: "ACL_ERROR_INVALID_FILE",
    100006: "ACL_ERROR_PARSE_FILE",
    100008: "ACL_ERROR_FILE_ATTR_INVALID",
    107000: "ACL_ERROR_RT_PARAM_INVALID",
    107001: "ACL_ERROR_RT_INVALID_DEVICEID",
    107002: "ACL_ERROR_RT_CONTEXT_NULL",
    107003: "ACL_ERROR_RT_STREAM_CONTEXT",
    107006: "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID",
    107017: "ACL_ERROR_RT_INVALID_HANDLE",
    207000: "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
    207001: "ACL_ERROR_RT_MEMORY_ALLOCATION",
}


class AdvanceStepError(RuntimeError):
    """A call of the C library failed.

    Attributes:
        code: the aclError or aclnnStatus, for instance 507035; docs/errors.md has all codes.
        message: the library's message, with the call, the argument, its value and the expected
            values.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        name = _NAMES.get(self.code)
        return f"{self.message} [{self.code}{' ' + name if name else ''}]"


class ArgumentError(AdvanceStepError, ValueError):
    """The operator does not accept the dtype, layout, shape or value of an argument (161001,
    161002, 561002). Nothing was queued and nothing was written."""


class DataError(AdvanceStepError):
    """The device met data that the operator cannot process (507035). Nothing was written."""


class NoProgressError(AdvanceStepError):
    """Step needs more blocks than are free, and no slot is left to preempt (207005). Nothing was
    written; shed load and call it again."""


_CLASSES: dict[int, type[AdvanceStepError]] = {
    PARAM_NULLPTR: ArgumentError,
    PARAM_INVALID: ArgumentError,
    TILING_ERROR: ArgumentError,
    DATA_ERROR: DataError,
    NO_PROGRESS: NoProgressError,
}


def make_error(code: int, message: str) -> AdvanceStepError:
    """Makes the exception for a code, of the most specific class."""
    return _CLASSES.get(code, AdvanceStepError)(code, message)
