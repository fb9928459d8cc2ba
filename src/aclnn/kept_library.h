// SPDX-License-Identifier: Apache-2.0
// The libraries that have tables of operators, which stay loaded.

#pragma once

#include <string>

#include "src/base/status.h"

namespace advstep {

/// Returns the file of the library that has an address; "" for the program itself.
std::string LibraryOf(const void* address);

/// Returns the name of a library for messages.
inline std::string NameOfLibrary(const std::string& file) {
    return file.empty() ? "the program" : file;
}

/// Keeps a library loaded: queued launches, plans and captured models point to its kernels. So it
/// stays, even if a program closes it. 161002: it cannot be kept.
Status KeepLoaded(const std::string& file);

}  // namespace advstep
