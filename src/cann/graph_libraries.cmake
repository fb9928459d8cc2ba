# SPDX-License-Identifier: Apache-2.0
# Graph mode under the link names of CANN. libgraph is made of the objects of libadvance_step_graph
# and has another SONAME. It depends on libadvance_step_private for the names of other layouts that clients
# bind. The other libraries define nothing and depend on libgraph. A prefix has no
# libadvance_step_graph beside libgraph, because each would have a state of its own.
add_library(advance_step_libgraph SHARED $<TARGET_OBJECTS:advance_step_graph>
                                         $<TARGET_OBJECTS:advance_step_fmt>)
target_link_libraries(advance_step_libgraph
  PRIVATE advance_step_flags advance_step advance_step_libadvance_step_private Threads::Threads)
set(graph_version_script ${PROJECT_BINARY_DIR}/advance_step_graph.map)
target_link_options(advance_step_libgraph PRIVATE -Wl,--version-script=${graph_version_script}
                                                  -Wl,-z,nodelete -Wl,--no-as-needed)
set_target_properties(advance_step_libgraph PROPERTIES
  OUTPUT_NAME graph
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${graph_version_script}
  LIBRARY_OUTPUT_DIRECTORY ${cann_folder}
  BUILD_RPATH "${PROJECT_BINARY_DIR}/lib"
  INSTALL_RPATH $ORIGIN)
install(TARGETS advance_step_libgraph LIBRARY DESTINATION lib64 COMPONENT cann EXCLUDE_FROM_ALL)
add_dependencies(advance_step_cann advance_step_libgraph)
foreach(library IN ITEMS libge_compiler libge_runner libgraph_base libfmk_onnx_parser libmetadef libexe_graph libregister)
  cann_library(${library} FROM advance_step_libadvance_step_private)
  target_link_libraries(advance_step_${library} PRIVATE advance_step_libgraph)
endforeach()
