# SPDX-License-Identifier: Apache-2.0
# libadvance_step.so, and a static twin that shows its insides to the unit tests.
get_property(layers GLOBAL PROPERTY ADVANCE_STEP_LAYERS)
set(objects)
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()

set(version_script ${PROJECT_BINARY_DIR}/advance_step.map)
configure_file(${PROJECT_SOURCE_DIR}/cmake/advance_step.map.in ${version_script} @ONLY)
# Only the shared library counts its allocations, by src/runtime/faults/counted_new.cpp.
set(counted_functions _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZnwmRKSt9nothrow_t
                      _ZnamRKSt9nothrow_t)
list(TRANSFORM counted_functions PREPEND -Wl,--wrap=)
add_library(advance_step SHARED ${objects} $<TARGET_OBJECTS:advance_step_counted_new>)
add_library(advance_step::advance_step ALIAS advance_step)
target_include_directories(advance_step INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(advance_step PRIVATE $<BUILD_INTERFACE:advance_step_flags> Threads::Threads)
# A program that has functions of these names, as a mock has, does not come between the library's own.
target_link_options(advance_step PRIVATE -Wl,--version-script=${version_script}
                    -Wl,-Bsymbolic-functions ${counted_functions})
# The library's threads sleep in its code and may wake at any time, fork runs its hooks, and the handlers of
# guarded memory stay installed. So dlclose leaves it where it is.
target_link_options(advance_step PRIVATE -Wl,-z,nodelete)
# Clang leaves a sanitizer's symbols to the executable, so there they are undefined here.
if(NOT (ADVANCE_STEP_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  target_link_options(advance_step PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(advance_step PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${version_script}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(ADVANCE_STEP_IPO)
  set_target_properties(advance_step PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
endif()

add_library(advance_step_static STATIC EXCLUDE_FROM_ALL ${objects})
target_include_directories(advance_step_static PUBLIC
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
target_link_libraries(advance_step_static PUBLIC advance_step_flags Threads::Threads)

# For programs that want one file; of the archive they see include/ only.
if(ADVANCE_STEP_STATIC)
  add_library(advance_step_archive STATIC ${objects})
  add_library(advance_step::static ALIAS advance_step_archive)
  target_include_directories(advance_step_archive INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(advance_step_archive PUBLIC Threads::Threads)
  set_target_properties(advance_step_archive PROPERTIES
    EXPORT_NAME static
    LINKER_LANGUAGE CXX
    OUTPUT_NAME advance_step
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  if(ADVANCE_STEP_IPO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Its objects are also there in the compiler's own form. Programs would be optimised across files
    # whether they want it or not, and only by this very version of the compiler.
    add_custom_command(TARGET advance_step_archive POST_BUILD
      COMMAND ${CMAKE_OBJCOPY} --wildcard --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_*
              --strip-symbol=__gnu_lto_v1 $<TARGET_FILE:advance_step_archive> VERBATIM)
  endif()
endif()
