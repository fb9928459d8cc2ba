# SPDX-License-Identifier: Apache-2.0
"""acl.mdl of pyACL: models of an offline compiler, which a host cannot run.

The C functions refuse: codes are 207000 and handles 0, and acl.get_recent_err_msg() names the function.
"""

from __future__ import annotations

from . import _binding

TABLE = """
load_from_file(model_path:s, >model_id:u32) = aclmdlLoadFromFile
load_from_file_with_mem(model_path:s, >model_id:u32, work_ptr:p, work_size:u64, weight_ptr:p, weight_size:u64) = aclmdlLoadFromFileWithMem
load_from_mem(model:p, model_size:u64, >model_id:u32) = aclmdlLoadFromMem
load_from_mem_with_mem(model:p, model_size:u64, >model_id:u32, work_ptr:p, work_size:u64, weight_ptr:p, weight_size:u64) = aclmdlLoadFromMemWithMem
unload(model_id:u32) = aclmdlUnload
query_size(file_name:s, >work_size:u64, >weight_size:u64) = aclmdlQuerySize
query_size_from_mem(model:p, model_size:u64, >work_size:u64, >weight_size:u64) = aclmdlQuerySizeFromMem
create_desc() -> p = aclmdlCreateDesc
destroy_desc(model_desc:p) = aclmdlDestroyDesc
get_desc(model_desc:p, model_id:u32) = aclmdlGetDesc
get_num_inputs(model_desc:p) -> u64 = aclmdlGetNumInputs
get_num_outputs(model_desc:p) -> u64 = aclmdlGetNumOutputs
get_input_size_by_index(model_desc:p, index:u64) -> u64 = aclmdlGetInputSizeByIndex
get_output_size_by_index(model_desc:p, index:u64) -> u64 = aclmdlGetOutputSizeByIndex
get_input_name_by_index(model_desc:p, index:u64) -> s = aclmdlGetInputNameByIndex
get_output_name_by_index(model_desc:p, index:u64) -> s = aclmdlGetOutputNameByIndex
get_input_index_by_name(model_desc:p, name:s, >index:u64) = aclmdlGetInputIndexByName
get_input_data_type(model_desc:p, index:u64) -> i32 = aclmdlGetInputDataType
get_output_data_type(model_desc:p, index:u64) -> i32 = aclmdlGetOutputDataType
get_input_format(model_desc:p, index:u64) -> i32 = aclmdlGetInputFormat
get_output_format(model_desc:p, index:u64) -> i32 = aclmdlGetOutputFormat
create_dataset() -> p = aclmdlCreateDataset
destroy_dataset(dataset:p) = aclmdlDestroyDataset
get_dataset_num_buffers(dataset:p) -> u64 = aclmdlGetDatasetNumBuffers
get_dataset_buffer(dataset:p, index:u64) -> p = aclmdlGetDatasetBuffer
execute(model_id:u32, input:p, output:p) = aclmdlExecute
execute_async(model_id:u32, input:p, output:p, stream:p) = aclmdlExecuteAsync
set_dynamic_batch_size(model_id:u32, dataset:p, index:u64, batch_size:u64) = aclmdlSetDynamicBatchSize
set_dynamic_hw_size(model_id:u32, dataset:p, index:u64, height:u64, width:u64) = aclmdlSetDynamicHWSize
"""
_binding.bind(globals(), TABLE)
_C_TABLE = {"__name__": __name__}
_binding.bind(_C_TABLE, """
add_dataset_buffer(dataset:p, data_buffer:p) = aclmdlAddDatasetBuffer
get_input_dims(model_desc:p, index:u64, dims:p) = aclmdlGetInputDims
get_output_dims(model_desc:p, index:u64, dims:p) = aclmdlGetOutputDims
get_cur_output_dims(model_desc:p, index:u64, dims:p) = aclmdlGetCurOutputDims
""")


def add_dataset_buffer(dataset: int, data_buffer: int) -> tuple[int, int]:
    """Returns the dataset and the code."""
    return dataset, _C_TABLE["add_dataset_buffer"](dataset, data_buffer)


def get_input_dims(model_desc: int, index: int) -> tuple[dict, int]:
    """Returns the dimensions of an input, and the code."""
    return {}, _C_TABLE["get_input_dims"](model_desc, index, 0)


def get_output_dims(model_desc: int, index: int) -> tuple[dict, int]:
    """Returns the dimensions of an output, and the code."""
    return {}, _C_TABLE["get_output_dims"](model_desc, index, 0)


def get_cur_output_dims(model_desc: int, index: int) -> tuple[dict, int]:
    """Returns the dimensions of an output after a run, and the code."""
    return {}, _C_TABLE["get_cur_output_dims"](model_desc, index, 0)
