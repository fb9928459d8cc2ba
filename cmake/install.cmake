# SPDX-License-Identifier: Apache-2.0
# The installation of the library by component: runtime, devel, static, python and cann.
# Components graph_runtime, graph, mock and tools have rules of their own. All but python, cann and tools come
# with a plain install. docs/packaging.md
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/advance_step)

install(TARGETS advance_step EXPORT advance_step-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
foreach(folder IN ITEMS acl aclnn aclnnop advance_step)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${folder}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel
          FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN testing EXCLUDE)
endforeach()
install(EXPORT advance_step-targets NAMESPACE advance_step::
        DESTINATION ${package_folder} COMPONENT devel)

include(CMakePackageConfigHelpers)
# With major version 0 a new minor version may break programs.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/advance_step-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/advance_step-config.cmake
              ${PROJECT_BINARY_DIR}/advance_step-config-version.cmake
        DESTINATION ${package_folder} COMPONENT devel)

file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/advance_step.pc.in
               ${PROJECT_BINARY_DIR}/advance_step.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/advance_step.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)

if(ADVANCE_STEP_STATIC)
  install(TARGETS advance_step_archive EXPORT advance_step_static-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT static)
  install(EXPORT advance_step_static-targets NAMESPACE advance_step::
          DESTINATION ${package_folder} COMPONENT static)
endif()

# For the system's python3; from elsewhere take the wheel.
set(python_folder lib/python3/dist-packages)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/python/advance_step DESTINATION ${python_folder}
        COMPONENT python EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/src/python/_advance_step_startup.py DESTINATION ${python_folder}
        COMPONENT python EXCLUDE_FROM_ALL)

include(${PROJECT_SOURCE_DIR}/cmake/install_cann.cmake)
