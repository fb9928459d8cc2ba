// SPDX-License-Identifier: Apache-2.0
// The paths by which the dynamic linker opens files.

#pragma once

#include <sys/stat.h>

#include <string>

namespace advstep {

/// Returns a path to the same file that no earlier call has returned. The dynamic linker takes a
/// path that it knows for the object that it has already loaded from there, and looks at the file
/// only if the path is new to it. So steps that lead nowhere follow the first slash of `path`,
/// which is absolute and has none. A path that gets too long stays as it is.
std::string NewLoaderPath(const std::string& path);

/// Returns the path by which an earlier call opened this very file, or a new one. A file keeps its
/// path, because the dynamic linker keeps all paths of an open object. `file` is the state of the
/// file at `path`.
std::string LoaderPathOf(const std::string& path, const struct stat& file);

/// Notes that `loaded`, a result of LoaderPathOf, has opened a file. It forgets the path if another
/// file than `file` is at `path` by now, because the dynamic linker may have seen that one.
void NoteLoaderPath(const std::string& path, const struct stat& file, const std::string& loaded);

}  // namespace advstep
