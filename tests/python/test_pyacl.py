# SPDX-License-Identifier: Apache-2.0
"""pyACL, the module acl, on the libraries of the prefix."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import numpy
import pytest
from conftest import ROOT, SOURCES

# The prefix of the build has the libraries, and no other part of an installed one.
PREFIX = pathlib.Path(os.environ["ADVANCE_STEP_LIBRARY"]).resolve().parents[1] / "cann"
os.environ["ASCEND_HOME_PATH"] = str(PREFIX)
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "src/catalogue"))

import acl  # noqa: E402
from acl import _binding, _constants, mdl, op, prof, rt  # noqa: E402
from catalogue import Catalogue  # noqa: E402

DECLARATIONS = Catalogue(ROOT).declarations
H2D, D2H = acl.ACL_MEMCPY_HOST_TO_DEVICE, acl.ACL_MEMCPY_DEVICE_TO_HOST
TABLES = [(module, _binding.read_line(row.strip())) for module in (acl, rt, mdl, op, prof)
          for row in module.TABLE.splitlines() if row.strip()]
KINDS = {"i32": "int32_t|int", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t|size_t", "f32": "float"}


@pytest.fixture
def device():
    assert acl.init() == 0
    assert rt.set_device(0) == 0
    yield 0
    assert rt.reset_device(0) == 0
    assert acl.finalize() == 0


def described(parameter):
    """The patterns of what C has in the place of a parameter of a table."""
    if parameter.is_list:
        return [r"int \w+$", rf"const {KINDS[parameter.type]}\* \w+$"]
    if parameter.is_output:
        return [r"(\w+\*\*? (const )?\w+)$"]
    if parameter.type == "p":
        return [r".*\*.*|(const )?aclrt\w+ \w+$"]
    if parameter.type == "s":
        return [r"const char\* \w+$"]
    kinds = KINDS[parameter.type]
    return [rf"(const )?({kinds}{'|acl[A-Za-z]+' if parameter.type == 'i32' else ''}) \w+$"]


@pytest.mark.parametrize("line", [line for _, line in TABLES], ids=lambda line: line.function)
def test_tables_are_those_of_the_headers(line):
    declaration = DECLARATIONS.get(line.function)
    if declaration is None:  # functions of the prefix that no header here declares
        assert line.function.startswith(("aclmdl", "aclprof"))
        return
    wanted = [pattern for parameter in line.parameters for pattern in described(parameter)]
    assert len(declaration.parameters) == len(wanted), declaration
    for pattern, parameter in zip(wanted, declaration.parameters):
        assert re.match(pattern, parameter), (pattern, parameter)
    assert (declaration.result == "aclError") == (line.result == "code"), declaration
    if line.result in KINDS:
        assert re.fullmatch(f"{KINDS[line.result]}|aclDataType|aclFormat", declaration.result)


def test_every_function_is_there():
    libraries = [ctypes.CDLL(str(PREFIX / "lib64" / name)) for name in ("libascendcl.so", "libmsprofiler.so")]
    for module, line in TABLES:
        assert any(hasattr(library, line.function) for library in libraries), line.function
        assert callable(getattr(module, line.name)) and line.function in getattr(module, line.name).__doc__


def test_constants_are_those_of_the_headers():
    text = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "include/acl").rglob("*.h"))
    found = {name: int(value, 0) for name, value in re.findall(r"\b(ACL_\w+)\s*=?\s*(-?(?:0x[0-9A-Fa-f]+|\d+))\b", text)}
    own = {name: value for name, value in vars(_constants).items() if name.startswith("ACL_")}
    assert len(own) > 80 and own.items() <= found.items()
    assert (acl.ACL_FLOAT, acl.ACL_BF16, acl.ACL_MEMCPY_DEVICE_TO_DEVICE) == (0, 27, 3)


def test_start_and_identity(device):
    assert rt.get_device() == (0, 0)
    assert rt.get_device_count()[1] == 0
    assert acl.get_soc_name().startswith("Ascend")
    assert acl.get_version()[0] >= 1 and acl.get_version()[-1] == 0
    assert acl.get_device_capability(0, 1)[1] == 0
    assert acl.data_type_size(acl.ACL_DOUBLE) == 8
    rates, code = rt.get_device_utilization_rate(0)
    assert code == 0 and set(rates) == {"cube_utilization", "vector_utilization", "aicpu_utilization",
                                        "memory_utilization"}


def test_values_and_codes_of_failures(device):
    assert rt.malloc(0, 2) == (0, 100000)
    assert "aclrtMalloc: size" in acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() == ""
    assert rt.set_device(77) != 0
    assert rt.synchronize_stream(4711) == 107017


@pytest.mark.parametrize("call, words", (
    (lambda: rt.malloc("x", 2), "acl.rt.malloc: size is 'x'; expected an integer"),
    (lambda: rt.malloc(-1, 2), "acl.rt.malloc: size is -1; expected 0 to"),
    (lambda: rt.malloc(1), "acl.rt.malloc: missing a required argument: 'policy'; expected acl.rt.malloc(size, policy)"),
    (lambda: rt.set_device(2**31), "acl.rt.set_device: device_id is 2147483648; expected"),
    (lambda: rt.binary_load_from_file(3), "bin_path is 3; expected a str"),
    (lambda: acl.create_tensor_desc(0, 5, 2), "dims is 5; expected a list"),
    (lambda: acl.create_tensor_desc(0, [1, "a"], 2), "dims[1] is 'a'; expected an integer"),
    (lambda: acl.util.numpy_to_ptr([1]), "array is list; expected a numpy.ndarray"),
    (lambda: acl.util.numpy_to_ptr(numpy.zeros((4, 4))[:, 1]), "expected a contiguous array"),
    (lambda: acl.util.ptr_to_numpy(0, (1,), 11), "ptr is 0; expected an address"),
    (lambda: acl.util.ptr_to_numpy(8, (1,), 999), "data_type is 999; expected a number of numpy"),
    (lambda: acl.util.bytes_to_ptr("a"), "data is str; expected bytes"),
    (lambda: rt.launch_callback(1, None, 0, 0), "function is 1; expected a function"),
    (lambda: acl.media, "the emulated device has no such part"),
    (lambda: acl.nothing, "has no attribute 'nothing'"),
))
def test_bad_arguments(call, words):
    with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
        call()
    assert words in str(raised.value)


def test_copies_on_a_stream(device):
    context, code = rt.create_context(0)
    assert code == 0 and rt.get_context() == (context, 0)
    stream, code = rt.create_stream()
    assert code == 0
    given = numpy.arange(16, dtype=numpy.float32)
    read = numpy.zeros_like(given)
    memory, code = rt.malloc(given.nbytes, acl.ACL_MEM_MALLOC_NORMAL_ONLY)
    assert code == 0 and memory
    assert rt.memcpy(memory, given.nbytes, acl.util.numpy_to_ptr(given), given.nbytes, H2D) == 0
    start, end = rt.create_event()[0], rt.create_event()[0]
    assert rt.record_event(start, stream) == 0
    assert rt.memcpy_async(acl.util.numpy_to_ptr(read), read.nbytes, memory, read.nbytes, D2H, stream) == 0
    assert rt.record_event(end, stream) == 0 and rt.synchronize_event(end) == 0
    assert rt.query_event_status(end) == (acl.ACL_EVENT_RECORDED_STATUS_COMPLETE, 0)
    milliseconds, code = rt.event_elapsed_time(start, end)
    assert code == 0 and milliseconds >= 0
    assert (given == read).all()
    assert rt.memset(memory, given.nbytes, 1, 8) == 0
    over = numpy.zeros(4, numpy.uint16)
    assert rt.memcpy(over.ctypes.data, 8, memory, 8, D2H) == 0 and (over == 0x0101).all()
    free, total, code = rt.get_mem_info(acl.ACL_HBM_MEM)
    assert code == 0 and 0 < free <= total
    for call, handle in ((rt.destroy_event, start), (rt.destroy_event, end), (rt.free, memory),
                         (rt.destroy_stream, stream), (rt.destroy_context, context)):
        assert call(handle) == 0


def test_arrays_and_bytes():
    array = numpy.arange(6, dtype=numpy.int16).reshape(2, 3)
    again = acl.util.ptr_to_numpy(acl.util.numpy_to_ptr(array), (2, 3), array.dtype.num)
    again[1, 2] = 77
    assert array[1, 2] == 77 and again.dtype == numpy.int16
    assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(b"abc\0d"), 5) == b"abc\0d"
    assert acl.float16_to_float(0x3C00) == 1.0 and acl.float_to_float16(1.0) == 0x3C00


def test_descriptions_and_buffers(device):
    desc = acl.create_tensor_desc(acl.ACL_FLOAT, [2, 3], acl.ACL_FORMAT_ND)
    assert acl.get_tensor_desc_num_dims(desc) == 2 and acl.get_tensor_desc_dim_v2(desc, 1) == (3, 0)
    assert acl.get_tensor_desc_size(desc) == 24 and acl.get_tensor_desc_type(desc) == acl.ACL_FLOAT
    assert acl.set_tensor_shape(desc, [5]) == 0
    assert acl.get_tensor_desc_element_count(desc) == 6  # of the shape that it was made with
    acl.set_tensor_desc_name(desc, "x")
    assert acl.get_tensor_desc_name(desc) == "x"
    memory, _ = rt.malloc(64, 2)
    buffer = acl.create_data_buffer(memory, 64)
    assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)) == (memory, 64)
    attr = op.create_attr()
    assert op.set_attr_bool(attr, "flag", True) == 0 and op.set_attr_list_int(attr, "axes", [1, 2]) == 0
    assert op.execute_v2("Add", [desc, desc], [buffer, buffer], [desc], [buffer], attr, 0) == 200001
    assert "operator Add cannot run by its name" in (message := acl.get_recent_err_msg())
    assert "axes = [1, 2], flag = true" in message
    assert op.compile("Add", [desc], [desc], attr, 0, 0) == 200001
    op.destroy_attr(attr)
    assert acl.destroy_data_buffer(buffer) == 0 and rt.free(memory) == 0
    acl.destroy_tensor_desc(desc)


def test_callbacks_run_in_the_thread_of_reports(device):
    stream, _ = rt.create_stream()
    calls, ended = [], threading.Event()

    def reports(arguments):
        while not ended.is_set():
            rt.process_report(arguments[0])

    thread, code = acl.util.start_thread(reports, [100])
    assert code == 0 and rt.subscribe_report(thread, stream) == 0
    for number in range(3):
        assert rt.launch_callback(lambda data: calls.append((data, threading.get_ident())), [number], 1, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert calls == [([number], thread) for number in range(3)]
    assert rt.unsubscribe_report(thread, stream) == 0
    ended.set()
    assert acl.util.stop_thread(thread) == 0 and acl.util.stop_thread(thread) == 100000
    assert rt.launch_callback(calls.append, None, 1, 4711) == 107017 and not rt._callbacks
    assert rt.destroy_stream(stream) == 0


KERNEL = """
#include <stdint.h>
#include "advance_step/kernel.h"
ADVSTEP_KERNEL(add) {
    int64_t* const* const values = (int64_t* const*)args;
    if (advstepBlockIndex(context) == 0) { (*values)[0] += 5; }
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_launch_of_a_loaded_binary(device, tmp_path):
    (tmp_path / "add.c").write_text(KERNEL)
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT / 'include'}", "-o", tmp_path / "add.so", tmp_path / "add.c"],
                   check=True)
    binary, code = rt.binary_load_from_file(tmp_path / "add.so")
    assert code == 0, acl.get_recent_err_msg()
    function, code = rt.binary_get_function(binary, "add")
    assert code == 0
    memory, _ = rt.malloc(8, 2)
    assert rt.memset(memory, 8, 0, 8) == 0
    arguments, code = rt.kernel_args_init(function)
    assert code == 0
    address = numpy.array([memory], numpy.uint64)
    parameter, code = rt.kernel_args_append(arguments, acl.util.numpy_to_ptr(address), 8)
    assert code == 0 and parameter and rt.kernel_args_finalize(arguments) == 0
    assert rt.launch_kernel_with_config(function, 1, 0, 0, arguments) == 0, acl.get_recent_err_msg()
    assert rt.synchronize_stream(0) == 0
    read = numpy.zeros(1, numpy.int64)
    assert rt.memcpy(read.ctypes.data, 8, memory, 8, D2H) == 0 and read[0] == 5
    assert rt.free(memory) == 0 and rt.binary_unload(binary) == 0


def test_models_refuse_by_name(device):
    assert mdl.load_from_file("model.om") == (0, 207000)
    assert acl.get_recent_err_msg().startswith("aclmdlLoadFromFile: models of an offline compiler")
    assert mdl.create_desc() == 0 and mdl.get_num_inputs(0) == 0 and mdl.execute(1, 0, 0) == 207000
    assert mdl.add_dataset_buffer(3, 4) == (3, 207000) and mdl.get_input_dims(0, 0) == ({}, 207000)
    assert mdl.get_input_data_type(0, 0) == -1 and mdl.get_input_name_by_index(0, 0) == ""


def test_a_profiler_is_accepted():
    config = prof.create_config([0], 0, 0, 0)
    assert prof.init("folder") == 0 and config and prof.start(config) == 0 and prof.stop(config) == 0
    assert prof.destroy_config(config) == 0 and prof.finalize() == 0


COMMAND = """
import os, sys, acl
from acl.rt import memcpy
assert acl.init() == 0 and acl.rt.set_device(0) == 0, acl.get_recent_err_msg()
assert 'numpy' not in sys.modules
print(acl.rt.get_device(), os.environ['ASCEND_OPP_PATH'])
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
"""


def test_the_command_puts_it_on_the_path(run_python, tmp_path):
    (tmp_path / "lib64").symlink_to(PREFIX / "lib64")
    (tmp_path / "python" / "site-packages").mkdir(parents=True)
    shutil.copytree(SOURCES / "acl", tmp_path / "python" / "site-packages" / "acl")
    package = tmp_path / "package"
    package.mkdir()
    (package / "advance_step").symlink_to(SOURCES / "advance_step")
    wanted = ((0, 0), str(tmp_path / "opp"))
    for arguments in (("-m", "advance_step.cann", "-c", COMMAND), ("-c", "import advance_step.cann\n" + COMMAND)):
        done = run_python(*arguments, path=(package,), ASCEND_HOME_PATH=str(tmp_path))
        assert done.stdout.strip() == f"{wanted[0]} {wanted[1]}", done.stderr
    done = run_python("-m", "advance_step.cann", "-c", "pass", path=(package,), ASCEND_HOME_PATH="/nonexistent")
    assert done.returncode == 1 and "python -m advance_step.cann: there is no prefix like CANN's" in done.stderr
