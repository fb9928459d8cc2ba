# SPDX-License-Identifier: Apache-2.0
# Component cann: a prefix in the shape of CANN's, for projects that look for one. Its libraries are
# those of src/cann. They have CANN's names, so they must be on no default path.
install(CODE "set(built_files \"${PROJECT_BINARY_DIR}/cann/libraries.txt\")
  set(build_folder \"${PROJECT_BINARY_DIR}\")"
        COMPONENT cann EXCLUDE_FROM_ALL)
install(CODE [[
  file(STRINGS "${built_files}" files)
  foreach(file IN LISTS files)
    if(NOT EXISTS "${file}")
      # CMake breaks no line that begins with a space.
      message(FATAL_ERROR "component cann: this is not built:\n  ${file}\nfirst run\n"
                          "  cmake --build ${build_folder} --target advance_step_cann")
    endif()
  endforeach()
  get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
  if(prefix MATCHES "^(/|/usr|/usr/local)$")
    message(FATAL_ERROR "component cann: ${prefix} is a default path; name a prefix of its own")
  endif()
]] COMPONENT cann EXCLUDE_FROM_ALL)
foreach(folder IN ITEMS acl aclnn aclnnop advance_step hccl)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${folder} DESTINATION include
          COMPONENT cann EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN testing EXCLUDE)
endforeach()
# Graph mode and the transfer engine: their libraries are in src/cann too.
foreach(folder IN ITEMS adxl graph ge op_graph register)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${folder} DESTINATION include
          COMPONENT cann EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/opp DESTINATION . COMPONENT cann EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.h")
install(PROGRAMS ${PROJECT_SOURCE_DIR}/src/cann/npu-smi DESTINATION bin COMPONENT cann EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/python/acl DESTINATION python/site-packages
        COMPONENT cann EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.py")
install(TARGETS advance_step LIBRARY DESTINATION lib64 COMPONENT cann NAMELINK_COMPONENT cann
        EXCLUDE_FROM_ALL)

install(FILES ${PROJECT_SOURCE_DIR}/packaging/cann_prefix.md DESTINATION . RENAME README.md
        COMPONENT cann EXCLUDE_FROM_ALL)
# Clients list the folder of operators of others, and a wheel has no folder without a file.
file(WRITE ${PROJECT_BINARY_DIR}/cann/config.ini "load_priority=\n")
install(FILES ${PROJECT_BINARY_DIR}/cann/config.ini DESTINATION opp/vendors
        COMPONENT cann EXCLUDE_FROM_ALL)

# The folders and versions that clients look for: the runtime answers with the same version.
set(cann_version 9.2.0)
configure_file(${PROJECT_SOURCE_DIR}/cmake/ascend_toolkit_install.info.in
               ${PROJECT_BINARY_DIR}/cann/ascend_toolkit_install.info @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cann/ascend_toolkit_install.info
        DESTINATION ${CMAKE_SYSTEM_PROCESSOR}-linux COMPONENT cann EXCLUDE_FROM_ALL)
file(WRITE ${PROJECT_BINARY_DIR}/cann/version.info "Version=${cann_version}\n")
foreach(folder IN ITEMS compiler opp runtime share/info/ops_math share/info/ops_nn
                        share/info/ops_transformer share/info/ops_cv share/info/ops_legacy)
  install(FILES ${PROJECT_BINARY_DIR}/cann/version.info DESTINATION ${folder}
          COMPONENT cann EXCLUDE_FROM_ALL)
endforeach()

install(CODE "set(source \"${PROJECT_SOURCE_DIR}/cmake/set_env.sh.in\")
  set(written \"${PROJECT_BINARY_DIR}/cann/set_env.sh\")"
        COMPONENT cann EXCLUDE_FROM_ALL)
install(CODE [[
  get_filename_component(installed "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
  configure_file("${source}" "${written}" @ONLY)
  file(INSTALL "${written}" DESTINATION "${CMAKE_INSTALL_PREFIX}")
]] COMPONENT cann EXCLUDE_FROM_ALL)
