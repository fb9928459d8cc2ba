include("${CMAKE_CURRENT_LIST_DIR}/advance_step-targets.cmake")
# advance_step::graph, where the component graph is installed.
include("${CMAKE_CURRENT_LIST_DIR}/advance_step_graph-targets.cmake" OPTIONAL
        RESULT_VARIABLE advance_step_graph_FOUND)
if(advance_step_graph_FOUND)
  set(advance_step_graph_FOUND TRUE)
endif()
foreach(component IN LISTS advance_step_FIND_COMPONENTS)
  if(NOT advance_step_${component}_FOUND AND advance_step_FIND_REQUIRED_${component})
    set(advance_step_FOUND FALSE)
    set(advance_step_NOT_FOUND_MESSAGE "advance_step has no component ${component} here")
  endif()
endforeach()
