# SPDX-License-Identifier: Apache-2.0
# The function advance_step_test and the targets that build groups of tests.

# advance_step_test(NAME x KIND unit|public [CONCURRENT] [SOURCES ...] [COMPUTES ...] [LIBRARIES ...])
#
# The target concurrent_tests builds all tests with CONCURRENT, quick_tests those with the label quick:
# unit, conformance and faults; unthreaded_tests those of them that are not CONCURRENT. full_run builds
# what the part quick has in a full run only: the schedules, and the programs of the benchmarks.
#
# KIND unit links the static twin and may include everything; KIND public links only the shared
# library and sees include/, tests/support and tests/reference. CONCURRENT labels tests in which
# threads meet: they also run under the thread sanitizer. COMPUTES are more sources, which
# spend their time in references and comparisons: the others take longer to compile than to run, and
# so debug builds compile them without optimisation. Line numbers are the only debug information
# of all. Forty-eight are compiled at a time: headers and templates are half of that.
add_custom_target(concurrent_tests)
add_custom_target(unthreaded_tests)
add_custom_target(full_run)
add_custom_target(quick_tests)
add_dependencies(quick_tests unthreaded_tests)

function(advance_step_test)
  cmake_parse_arguments(TEST "CONCURRENT" "NAME;KIND" "SOURCES;COMPUTES;LIBRARIES" ${ARGN})
  set(targets ${TEST_NAME})
  if(TEST_COMPUTES)
    # In front: of an inline function that both have, the linker takes the first.
    add_library(${TEST_NAME}_computes OBJECT ${TEST_COMPUTES})
    list(PREPEND TEST_SOURCES $<TARGET_OBJECTS:${TEST_NAME}_computes>)
    list(APPEND targets ${TEST_NAME}_computes)
  endif()
  add_executable(${TEST_NAME} ${TEST_SOURCES})
  foreach(target IN LISTS targets)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE
                               ADVANCE_STEP_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/golden")
    if(TEST_KIND STREQUAL "unit")
      target_link_libraries(${target} PRIVATE advance_step_static nlohmann_json::nlohmann_json)
      # Else the linker optimises the release library's objects once more for each test.
      target_link_options(${target} PRIVATE -fno-lto)
    else()
      target_link_libraries(${target} PRIVATE advance_step advance_step_flags fmt::fmt
                                              nlohmann_json::nlohmann_json)
    endif()
    if(NOT target MATCHES "_computes$")
      target_compile_options(${target} PRIVATE $<$<CONFIG:Debug,Release>:-O0>)
    else()
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-g1>)
    target_link_libraries(${target} PRIVATE ${TEST_LIBRARIES} GTest::gmock GTest::gtest_main)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 48)
  endforeach()
  set(labels ${TEST_KIND})
  file(RELATIVE_PATH folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  # COMPUTES keep all checks.
  set_target_properties(${TEST_NAME} PROPERTIES ADVANCE_STEP_FEWER_CHECKS ON)
  if(folder MATCHES "^(unit|conformance|faults|sanitizer)")
    list(APPEND labels quick)
    if(TEST_CONCURRENT)
      add_dependencies(quick_tests ${TEST_NAME})
    else()
      add_dependencies(unthreaded_tests ${TEST_NAME})
    endif()
  endif()
  if(TEST_CONCURRENT)
    list(APPEND labels concurrent)
    add_dependencies(concurrent_tests ${TEST_NAME})
  endif()
  add_test(NAME ${TEST_NAME} COMMAND ${TEST_NAME})
  set_tests_properties(${TEST_NAME} PROPERTIES LABELS "${labels}" TIMEOUT 600)
  if(TEST_COMPUTES)
    set_tests_properties(${TEST_NAME} PROPERTIES COST 10) # the longest first
  endif()
endfunction()

# Runs a test of advance_step_test once more with every device allocation guarded, both ways; not
# what takes long there, nor the tests of guarded memory, which choose for themselves.
function(advance_step_guarded_test name)
  foreach(guard IN ITEMS after before)
    add_test(NAME ${name}_guard_${guard} COMMAND ${name} --gtest_filter=-*Random*:StepLarge*:*StepService*:*V2Golden*:*V2Usual*:V2Size*:*Guard*)
    set_tests_properties(${name}_guard_${guard} PROPERTIES LABELS "public;guard" TIMEOUT 600
                         ENVIRONMENT ADVANCE_STEP_TEST_GUARD=${guard})
  endforeach()
endfunction()
