# SPDX-License-Identifier: Apache-2.0
# Writes chart_library.cpp: dygraphs (Debian: libjs-dygraphs) as text, for the reports of serve.

set(DYGRAPHS_FOLDER /usr/share/javascript/dygraphs CACHE PATH "dygraph.min.js and what comes with it")
set(DYGRAPHS_LICENCE /usr/share/doc/libjs-dygraphs/copyright CACHE FILEPATH "The licence of dygraphs")
set(dygraphs_files ${DYGRAPHS_FOLDER}/dygraph.min.js ${DYGRAPHS_FOLDER}/src/extras/crosshair.js
    ${DYGRAPHS_FOLDER}/src/extras/synchronizer.js ${DYGRAPHS_FOLDER}/dygraph.min.css ${DYGRAPHS_LICENCE})

set(chart_library TRUE)
foreach(file IN LISTS dygraphs_files)
  if(NOT EXISTS ${file})
    set(chart_library FALSE)
    message(STATUS "serve's reports have tables and no charts: "
                   "libjs-dygraphs is not installed (${file})")
    break()
  endif()
endforeach()

# Appends `text` to the C++ file as pieces that every compiler takes, cut behind semicolons.
function(advance_step_append_text cpp text)
  string(LENGTH "${text}" length)
  while(length GREATER 12000)
    string(SUBSTRING "${text}" 8000 -1 tail)
    string(FIND "${tail}" ";" at)
    if(at EQUAL -1)
      break()
    endif()
    math(EXPR at "${at} + 8001")
    string(SUBSTRING "${text}" 0 ${at} piece)
    string(SUBSTRING "${text}" ${at} -1 text)
    string(LENGTH "${text}" length)
    file(APPEND ${cpp} "    text += R\"dygraphs(${piece})dygraphs\";\n")
  endwhile()
  file(APPEND ${cpp} "    text += R\"dygraphs(${text})dygraphs\";\n")
endfunction()

set(cpp ${CMAKE_CURRENT_BINARY_DIR}/chart_library.cpp)
set(new ${cpp}.new)
file(WRITE ${new} "#include \"chart_library.h\"\n\nnamespace serve {\n\n"
     "std::string ChartLibrary() {\n    std::string text;\n")
if(chart_library)
  file(READ ${DYGRAPHS_LICENCE} licence)
  advance_step_append_text(${new} "/*\n${licence}*/\n")
  foreach(index RANGE 2)
    list(GET dygraphs_files ${index} file)
    file(READ ${file} script)
    string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" script "${script}")
    advance_step_append_text(${new} "${script}\n")
  endforeach()
endif()
file(APPEND ${new} "    return text;\n}\n\nstd::string ChartLibraryStyle() {\n    std::string text;\n")
if(chart_library)
  file(READ ${DYGRAPHS_FOLDER}/dygraph.min.css style)
  string(REGEX REPLACE "/\\*#[^\n]*\\*/" "" style "${style}")
  advance_step_append_text(${new} "${style}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dygraphs_files})
endif()
file(APPEND ${new} "    return text;\n}\n\n}  // namespace serve\n")
configure_file(${new} ${cpp} COPYONLY) # touched only if it changes
