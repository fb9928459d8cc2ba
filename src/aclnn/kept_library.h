// SPDX-License-Identifier: Apache-2.0
// The libraries that contain tables of operators. They stay loaded.

#pragma once

#include <string>

#include "src/base/status.h"

namespace advstep {

/// Returns the file of the library that contains an address; "" for the program itself.
std::string LibraryOf(const void* address);

/// Returns the name of a library in messages.
inline std::string NameOfLibrary(const std::string& file) {
    return file.empty() ? "the program" : file;
}

/// Keeps a library loaded even if a program closes it, because queued launches, plans and captured
/// models point to its kernels. 161002: that is not possible.
Status KeepLoaded(const std::string& file);

}  // namespace advstep
