// SPDX-License-Identifier: Apache-2.0
// Opens a file of the program, which may be a pipe that has no other end.

#pragma once

#include <string>

namespace advstep {

/// As open(2), but does not wait for the other end of a pipe: one without a reader is refused with
/// ENXIO, and one without a writer is empty. Reads and writes wait as usual. A new file gets the
/// bits 0666 without those of the umask. The descriptor is above 2. Returns -1, with errno set, on
/// failure.
int OpenFile(const char* path, int flags) noexcept;

/// Returns words for the error of OpenFile, or of a read or a write.
std::string FileErrorText(int error);

}  // namespace advstep
