# SPDX-License-Identifier: Apache-2.0
# The CMake package: imported targets for each installed component.

include(CMakeFindDependencyMacro)
include("${CMAKE_CURRENT_LIST_DIR}/advance_step-targets.cmake")
# advance_step::graph, advance_step::mock, advance_step::operators and advance_step::static, where the
# component is installed.
foreach(component IN ITEMS graph mock operators static)
  set(advance_step_${component}_FOUND FALSE)
  set(file "${CMAKE_CURRENT_LIST_DIR}/advance_step_${component}-targets.cmake")
  if(NOT EXISTS "${file}")
    continue()
  endif()
  # What a component needs beyond the library is looked for only if it was asked for.
  if(component STREQUAL "mock")
    if(NOT component IN_LIST advance_step_FIND_COMPONENTS)
      continue()
    endif()
    find_dependency(GTest)
  elseif(component STREQUAL "static")
    find_dependency(Threads)
  endif()
  include("${file}")
  set(advance_step_${component}_FOUND TRUE)
endforeach()
foreach(component IN LISTS advance_step_FIND_COMPONENTS)
  if(NOT advance_step_${component}_FOUND AND advance_step_FIND_REQUIRED_${component})
    set(advance_step_FOUND FALSE)
    set(advance_step_NOT_FOUND_MESSAGE "advance_step has no component ${component} here")
  endif()
endforeach()
