# SPDX-License-Identifier: Apache-2.0
# The Python that builds the wheel: sets advance_step_wheel_python, if the wheel is built.
#
# It is the one that Python3_EXECUTABLE names, or that of the environment which is active when CMake runs.
# find_package alone would go on with the one that it found before the environment was there.
if(NOT ADVANCE_STEP_BUILD_PYTHON)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(advance_step_wheel_python ${Python3_EXECUTABLE})
if(NOT DEFINED CACHE{Python3_EXECUTABLE})
  foreach(active IN ITEMS "$ENV{VIRTUAL_ENV}" "$ENV{CONDA_PREFIX}")
    if(active AND EXISTS ${active}/bin/python3)
      set(advance_step_wheel_python ${active}/bin/python3)
      break()
    endif()
  endforeach()
endif()
