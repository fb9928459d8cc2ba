# SPDX-License-Identifier: Apache-2.0
# libtorch (PyTorch for the CPU) for the kernels of CANN's operators.
# Looked for in Torch_DIR and CMAKE_PREFIX_PATH, as find_package(Torch) does, then in the Python that builds the
# wheel, and in the environment that examples/get_torch.sh makes. find_package itself would also want CUDA's or MKL's development files.
#
# Sets advance_step_torch_found, _include, _libraries and _folder (of the libraries).
if(ADVANCE_STEP_SANITIZE AND NOT ADVANCE_STEP_BUILD_OPERATORS STREQUAL "ON")
  # The same tests, whether there is one or not; its code has no sanitizer.
  set(advance_step_torch_found OFF)
  message(STATUS "CANN's operators will refuse: libtorch has no sanitizer")
  return()
endif()
set(hints)
if(Torch_DIR)
  list(APPEND hints ${Torch_DIR}/../../..)
endif()
foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND hints ${prefix} ${prefix}/../..)
endforeach()
if(advance_step_wheel_python)
  execute_process(COMMAND ${advance_step_wheel_python} -c "import importlib.util as u; print(u.find_spec('torch').origin)"
    OUTPUT_VARIABLE python_torch ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(python_torch)
    get_filename_component(python_torch ${python_torch} DIRECTORY)
    list(APPEND hints ${python_torch})
  endif()
endif()
file(GLOB environments ${PROJECT_SOURCE_DIR}/build/torch*/lib/python3*/site-packages/torch)
list(APPEND hints ${environments})
find_path(ADVANCE_STEP_TORCH_INCLUDE ATen/ATen.h HINTS ${hints} PATH_SUFFIXES include)
find_library(ADVANCE_STEP_TORCH_CPU torch_cpu HINTS ${hints} PATH_SUFFIXES lib)
find_library(ADVANCE_STEP_TORCH_C10 c10 HINTS ${hints} PATH_SUFFIXES lib)
mark_as_advanced(ADVANCE_STEP_TORCH_INCLUDE ADVANCE_STEP_TORCH_CPU ADVANCE_STEP_TORCH_C10)
if(ADVANCE_STEP_TORCH_INCLUDE AND ADVANCE_STEP_TORCH_CPU AND ADVANCE_STEP_TORCH_C10)
  set(advance_step_torch_found ON)
  set(advance_step_torch_include ${ADVANCE_STEP_TORCH_INCLUDE})
  set(advance_step_torch_libraries ${ADVANCE_STEP_TORCH_CPU} ${ADVANCE_STEP_TORCH_C10})
  get_filename_component(advance_step_torch_folder ${ADVANCE_STEP_TORCH_CPU} DIRECTORY)
  message(STATUS "CANN's operators compute with libtorch in ${advance_step_torch_folder}")
else()
  set(advance_step_torch_found OFF)
  if(ADVANCE_STEP_BUILD_OPERATORS STREQUAL "ON")
    message(FATAL_ERROR "ADVANCE_STEP_BUILD_OPERATORS: no libtorch was found; examples/get_torch.sh gets one, "
                        "or set Torch_DIR or CMAKE_PREFIX_PATH")
  endif()
  message(STATUS "CANN's operators will refuse: no libtorch was found (examples/get_torch.sh gets one)")
endif()
