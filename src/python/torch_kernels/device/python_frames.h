// SPDX-License-Identifier: Apache-2.0
// The lines of the Python program that the calling thread is in.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace advstep_torch {

/// Takes the folders of packages whose frames say less than those of the program. It is called
/// before the first PythonFrames.
void SetLibraryFolders(std::vector<std::string> folders);

/// Writes the frames of the calling thread as AdvStepScriptFrames has them: the innermost one, and
/// then those that are in no folder of a library. It does not take the interpreter's lock, and no
/// lock at all: a thread's own frames stand still while it is outside of Python. 0: the thread has
/// run no Python, Python is ending, or it is not a version whose frames are known.
size_t PythonFrames(char* text, size_t room);

}  // namespace advstep_torch
