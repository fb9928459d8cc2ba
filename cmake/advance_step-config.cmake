include("${CMAKE_CURRENT_LIST_DIR}/advance_step-targets.cmake")
