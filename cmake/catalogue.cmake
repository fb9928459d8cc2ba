# SPDX-License-Identifier: Apache-2.0
# Lists that the build makes of the catalogue of functions: src/catalogue/README.md.
find_package(Python3 3.7 REQUIRED COMPONENTS Interpreter)

# advance_step_lists(KIND FILES file ... ARGUMENTS argument ... [DEPENDS file ...]) adds the command
# that makes the files: make_lists.py KIND argument ... It runs again when a table or a public header
# has changed.
function(advance_step_lists kind)
  cmake_parse_arguments(LISTS "" "" "FILES;ARGUMENTS;DEPENDS" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/src/catalogue)
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${kind}_lists.d)
  list(GET LISTS_FILES 0 first)
  add_custom_command(
    OUTPUT ${LISTS_FILES}
    COMMAND ${Python3_EXECUTABLE} -B ${folder}/make_lists.py --depfile ${depfile} ${first}
            ${kind} ${LISTS_ARGUMENTS}
    DEPENDS ${folder}/make_lists.py ${folder}/catalogue.py ${folder}/families.csv ${LISTS_DEPENDS}
    DEPFILE ${depfile}
    COMMENT "Making the lists of functions: ${kind}"
    VERBATIM)
endfunction()
