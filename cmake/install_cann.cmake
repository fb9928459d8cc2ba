# SPDX-License-Identifier: Apache-2.0
# Component cann: a prefix in the shape of CANN's, for projects that look for one. The names of its
# libraries are links to this library, so they must be on no default path.
install(CODE [[
  get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
  if(prefix MATCHES "^(/|/usr|/usr/local)$")
    message(FATAL_ERROR "component cann: ${prefix} is a default path; name a prefix of its own")
  endif()
]] COMPONENT cann EXCLUDE_FROM_ALL)
foreach(folder IN ITEMS acl aclnn aclnnop advance_step)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${folder} DESTINATION include
          COMPONENT cann EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN testing EXCLUDE)
endforeach()
install(TARGETS advance_step LIBRARY DESTINATION lib64 COMPONENT cann NAMELINK_COMPONENT cann
        EXCLUDE_FROM_ALL)
set(links)
foreach(name IN ITEMS ascendcl acl_rt nnopbase opapi opapi_nn opapi_math cust_opapi)
  set(link ${PROJECT_BINARY_DIR}/cann/lib${name}.so)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/cann)
  file(CREATE_LINK libadvance_step.so.${PROJECT_VERSION_MAJOR} ${link} SYMBOLIC)
  list(APPEND links ${link})
endforeach()
install(FILES ${links} DESTINATION lib64 COMPONENT cann EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/set_env.sh DESTINATION . COMPONENT cann EXCLUDE_FROM_ALL)
