# SPDX-License-Identifier: Apache-2.0
"""Names of a shared object, also of one that is cut off."""

import struct

import advance_step
import pytest
from advance_step import _aclnn_operators, _elf

with open(advance_step.LIBRARY_PATH, "rb") as file:
    WHOLE = file.read()
SECTIONS = struct.unpack_from("<Q", WHOLE, 0x28)[0]


def damaged():
    """A file whose table of symbols names a table of texts that is not there."""
    size, number = struct.unpack_from("<HH", WHOLE, 0x3A)
    data = bytearray(WHOLE)
    for at in range(number):
        begin = SECTIONS + at * size
        if struct.unpack_from("<I", data, begin + 4)[0] == 11:
            struct.pack_into("<I", data, begin + 0x28, number)
    return bytes(data)


FILES = {"empty": b"", "4 bytes": WHOLE[:4], "header": WHOLE[:20], "no sections": WHOLE[:SECTIONS],
         "half a section": WHOLE[:SECTIONS + 100], "text": b"a" * 100, "no texts": damaged()}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off_has_no_names(name, tmp_path, monkeypatch):
    path = tmp_path / "vendors" / "own" / "op_api" / "lib" / "libcust_opapi.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(FILES[name])
    assert _elf.defined_names(path) == _elf.undefined_names(path) == []
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(tmp_path / "vendors" / "own"))
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    assert _aclnn_operators.names() == set()
    path.write_bytes(WHOLE)
    assert "advance_step" in _aclnn_operators.names()
    assert "aclInit" in _elf.defined_names(path)


def test_names_and_files_of_another_encoding(tmp_path, monkeypatch):
    folder = tmp_path / "vendors" / "own" / "op_api" / "lib"
    folder.mkdir(parents=True)
    (folder / "libcust_opapi.so").write_bytes(WHOLE.replace(b"\0aclInit\0", b"\0acl\xff\xffit\0"))
    (tmp_path / "vendors" / "config.ini").write_bytes(b"; \xff\nload_priority=own,\xff\n")
    monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path))
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    monkeypatch.delenv("ASCEND_CUSTOM_OPP_PATH", raising=False)
    assert "advance_step" in _aclnn_operators.names()
