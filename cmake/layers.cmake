# SPDX-License-Identifier: Apache-2.0
# One object library per layer. Objects are position independent and hidden by default, so that the
# same ones make the shared library and its static twin.
#
#   advance_step_layer(NAME base [SHARED_ONLY] SOURCES a.cpp b.cpp)
#
# The static twin has no objects of SHARED_ONLY.
function(advance_step_layer)
  cmake_parse_arguments(LAYER "SHARED_ONLY" "NAME" "SOURCES" ${ARGN})
  set(target advance_step_${LAYER_NAME})
  add_library(${target} OBJECT ${LAYER_SOURCES})
  # Of {fmt} and JSON the headers only: src/base/fmt_implementation.cpp compiles {fmt} in.
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>
    $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${target} PRIVATE advance_step_flags Threads::Threads)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  # Calls of a hundred nanoseconds depend on where in its lines of the cache a function begins. So any
  # edit elsewhere would make them some percent faster or slower.
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-falign-functions=64>)
  if(ADVANCE_STEP_IPO)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
    # The static twin must also link without a compiler that knows these objects.
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-ffat-lto-objects>)
  endif()
  if(NOT LAYER_SHARED_ONLY)
    set_property(GLOBAL APPEND PROPERTY ADVANCE_STEP_LAYERS ${target})
  endif()
endfunction()
