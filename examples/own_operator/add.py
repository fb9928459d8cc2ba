# SPDX-License-Identifier: Apache-2.0
"""Calls aclnnAdd of a library of operators from Python, by ctypes.

add.py LIBCUST_OPAPI
"""
import ctypes
import sys

ACL_INT32 = 3
ACL_FORMAT_ND = 2
HUGE_FIRST, TO_DEVICE, TO_HOST = 0, 1, 2

operators = ctypes.CDLL(sys.argv[1])
acl = operators  # dlsym of a library also looks into those that it needs
for function in ("aclCreateTensor", "aclCreateScalar"):
    getattr(acl, function).restype = ctypes.c_void_p
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p


def check(code):
    if code != 0:
        raise RuntimeError(f"{code}: {(acl.aclGetRecentErrMsg() or b'').decode()}")


def tensor(values):
    """Device memory with the values, and its description."""
    host = (ctypes.c_int32 * len(values))(*values)
    shape = (ctypes.c_int64 * 1)(len(values))
    memory = ctypes.c_void_p()
    size = ctypes.c_size_t(ctypes.sizeof(host))
    check(acl.aclrtMalloc(ctypes.byref(memory), size, HUGE_FIRST))
    check(acl.aclrtMemcpy(memory, size, host, size, TO_DEVICE))
    handle = acl.aclCreateTensor(shape, ctypes.c_uint64(1), ACL_INT32, None, ctypes.c_int64(0),
                                 ACL_FORMAT_ND, shape, ctypes.c_uint64(1), memory)
    return ctypes.c_void_p(handle), memory


def main():
    check(acl.aclInit(None))
    check(acl.aclrtSetDevice(0))
    self, self_memory = tensor([1, 2, 3])
    other, other_memory = tensor([10])
    out, out_memory = tensor([0, 0, 0])
    two = ctypes.c_int32(2)
    alpha = ctypes.c_void_p(acl.aclCreateScalar(ctypes.byref(two), ACL_INT32))
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    check(operators.aclnnAddGetWorkspaceSize(self, other, alpha, out, ctypes.byref(size),
                                             ctypes.byref(executor)))
    check(operators.aclnnAdd(None, size, executor, None))
    check(acl.aclrtSynchronizeStream(None))
    values = (ctypes.c_int32 * 3)()
    check(acl.aclrtMemcpy(values, ctypes.c_size_t(12), out_memory, ctypes.c_size_t(12), TO_HOST))
    print(list(values))
    for handle in (self, other, out):
        check(acl.aclDestroyTensor(handle))
    check(acl.aclDestroyScalar(alpha))
    for memory in (self_memory, other_memory, out_memory):
        check(acl.aclrtFree(memory))
    check(acl.aclrtResetDevice(0))
    check(acl.aclFinalize())


main()
