# SPDX-License-Identifier: Apache-2.0
# Short builds: a compiler cache and a fast linker, where they are installed, and several files in
# one compile step where a full build counts for more than a rebuild after one change.
option(ADVANCE_STEP_UNITY "Compile several source files of the libraries and examples at a time" OFF)
option(ADVANCE_STEP_TEST_UNITY "Compile several source files of the tests at a time" ON)
set(CMAKE_UNITY_BUILD ${ADVANCE_STEP_UNITY})
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
endif()

if(ADVANCE_STEP_TOP_LEVEL)
  find_program(ADVANCE_STEP_CCACHE ccache)
  foreach(language IN ITEMS C CXX)
    if(ADVANCE_STEP_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${ADVANCE_STEP_CCACHE})
    endif()
  endforeach()
  # Release builds keep the compiler's own linker, which knows its link-time optimisation.
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=lld ADVANCE_STEP_HAS_LLD)
    if(NOT ADVANCE_STEP_HAS_LLD)
      check_linker_flag(CXX -fuse-ld=mold ADVANCE_STEP_HAS_MOLD)
    endif()
    add_link_options($<$<BOOL:${ADVANCE_STEP_HAS_LLD}>:-fuse-ld=lld>
                     $<$<BOOL:${ADVANCE_STEP_HAS_MOLD}>:-fuse-ld=mold>)
  endif()
endif()

# Compiles the targets of a folder, with its subfolders, without the coverage that libFuzzer looks at,
# which is a quarter of the time of a test file. The fuzz targets and what they run keep theirs.
function(advance_step_not_fuzzed folder)
  if(folder MATCHES "tests/(fuzz|stress)$")
    return()
  endif()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  if(targets)
    set_property(TARGET ${targets} PROPERTY ADVANCE_STEP_NOT_FUZZED ON)
  endif()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    advance_step_not_fuzzed(${subfolder})
  endforeach()
endfunction()
