# libadvance_step.so, and a static twin that shows its insides to the unit tests.
get_property(layers GLOBAL PROPERTY ADVANCE_STEP_LAYERS)
set(objects)
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()

set(version_script ${PROJECT_SOURCE_DIR}/cmake/advance_step.map)
# Only the shared library counts its allocations, by this file: src/runtime/counted_new.cpp.
set(counted_new ${PROJECT_SOURCE_DIR}/src/runtime/counted_new.cpp)
set(counted_functions _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZnwmRKSt9nothrow_t
                      _ZnamRKSt9nothrow_t)
list(TRANSFORM counted_functions PREPEND -Wl,--wrap=)
add_library(advance_step SHARED ${objects} ${counted_new})
add_library(advance_step::advance_step ALIAS advance_step)
target_include_directories(advance_step PRIVATE ${PROJECT_SOURCE_DIR}
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
target_include_directories(advance_step INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(advance_step PRIVATE $<BUILD_INTERFACE:advance_step_flags> Threads::Threads)
target_link_options(advance_step PRIVATE -Wl,--version-script=${version_script}
                    ${counted_functions})
# Clang leaves a sanitizer's symbols to the executable, so there they are undefined here.
if(NOT (ADVANCE_STEP_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  target_link_options(advance_step PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(advance_step PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION 0
  LINK_DEPENDS ${version_script}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(ADVANCE_STEP_IPO)
  set_target_properties(advance_step PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
endif()

add_library(advance_step_static STATIC EXCLUDE_FROM_ALL ${objects})
target_include_directories(advance_step_static PUBLIC
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
target_link_libraries(advance_step_static PUBLIC advance_step_flags Threads::Threads)

install(TARGETS advance_step EXPORT advance_step-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder IN ITEMS acl aclnn aclnnop advance_step)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${folder}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
endforeach()
install(EXPORT advance_step-targets NAMESPACE advance_step::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/advance_step)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/advance_step-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/advance_step-config.cmake
              ${PROJECT_BINARY_DIR}/advance_step-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/advance_step)
