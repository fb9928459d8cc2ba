# SPDX-License-Identifier: Apache-2.0
# cpack -G DEB: the library, its -dev package (with the mock), both packages of graph mode,
# the Python package, and the tools if they are built.
set(CPACK_PACKAGE_NAME advance-step)
set(CPACK_PACKAGE_VENDOR "libadvance_step")
set(CPACK_PACKAGE_CONTACT "libadvance_step maintainers <maintainers@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime devel mock graph_runtime graph python)
set(CPACK_COMPONENT_RUNTIME_GROUP library)
set(CPACK_COMPONENT_DEVEL_GROUP dev)
set(CPACK_COMPONENT_MOCK_GROUP dev)
set(CPACK_COMPONENT_GRAPH_RUNTIME_GROUP graph_library)
set(CPACK_COMPONENT_GRAPH_GROUP graph_dev)
set(CPACK_COMPONENT_PYTHON_GROUP python)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(library_package libadvance-step${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
# CPack's own way to ldconfig is scripts; a trigger runs it once for all packages of an installation.
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs
     "libadvance_step ${PROJECT_VERSION_MAJOR} ${library_package} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    ${PROJECT_BINARY_DIR}/debian/triggers ${PROJECT_BINARY_DIR}/debian/shlibs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "${PROJECT_DESCRIPTION}")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libadvance-step-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS libgmock-dev)
set(CPACK_DEBIAN_DEV_DESCRIPTION "${PROJECT_DESCRIPTION}: headers, CMake package, mock")

set(graph_package libadvance-step-graph${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_GRAPH_LIBRARY_PACKAGE_NAME ${graph_package})
set(CPACK_DEBIAN_GRAPH_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_GRAPH_LIBRARY_PACKAGE_SHLIBDEPS ON)
# It needs the library, whose package dpkg-shlibdeps cannot know.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_GRAPH_LIBRARY_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION}-1)")
file(WRITE ${PROJECT_BINARY_DIR}/debian/graph/shlibs
     "libadvance_step_graph ${PROJECT_VERSION_MAJOR} ${graph_package} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_GRAPH_LIBRARY_PACKAGE_CONTROL_EXTRA
    ${PROJECT_BINARY_DIR}/debian/triggers ${PROJECT_BINARY_DIR}/debian/graph/shlibs)
set(CPACK_DEBIAN_GRAPH_LIBRARY_DESCRIPTION "${PROJECT_DESCRIPTION}: graph mode")

set(CPACK_DEBIAN_GRAPH_DEV_PACKAGE_NAME libadvance-step-graph-dev)
set(CPACK_DEBIAN_GRAPH_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_GRAPH_DEV_PACKAGE_DEPENDS
    "${graph_package} (= ${PROJECT_VERSION}-1), libadvance-step-dev (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_GRAPH_DEV_DESCRIPTION "${PROJECT_DESCRIPTION}: headers of graph mode")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-advance-step)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), ${library_package} (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-numpy")
# Root's python3 writes __pycache__ beside the files, which dpkg would leave there.
file(WRITE ${PROJECT_BINARY_DIR}/debian/prerm
     "#!/bin/sh\nset -e\nif command -v py3clean >/dev/null 2>&1; then\n"
     "    py3clean --package python3-advance-step\nfi\n")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/prerm)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "${PROJECT_DESCRIPTION}: Python package")

set(packaged_components runtime devel graph_runtime graph python)
if(TARGET serve)
  list(APPEND CPACK_COMPONENTS_ALL tools)
  list(APPEND packaged_components tools)
  set(CPACK_COMPONENT_TOOLS_GROUP tools)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME advance-step-tools)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION}-1)")
  set(CPACK_DEBIAN_TOOLS_DESCRIPTION "${PROJECT_DESCRIPTION}: serve, a planner of servers")
endif()

# The licence comes with each package.
foreach(component IN LISTS packaged_components)
  string(TOUPPER ${component} name)
  string(TOUPPER ${CPACK_COMPONENT_${name}_GROUP} group)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${group}_PACKAGE_NAME})
endforeach()
include(CPack)
