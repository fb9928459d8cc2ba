# SPDX-License-Identifier: Apache-2.0
# Random programs of runtime calls and their model, for the stress test and the fuzz target.
if(NOT TARGET stress_program)
  add_library(stress_program OBJECT EXCLUDE_FROM_ALL
    ${CMAKE_CURRENT_LIST_DIR}/program.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_actions.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_actions_capture.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_actions_memory.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_calls.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_calls_objects.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_calls_waits.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_generator.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_generator_order.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_illegal.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_model.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_model_capture.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_model_lives.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_model_notify.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_model_sync.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_scenarios.cpp)
  target_include_directories(stress_program PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(stress_program PRIVATE advance_step advance_step_flags fmt::fmt GTest::gtest)
endif()
