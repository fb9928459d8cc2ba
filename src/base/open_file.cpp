// SPDX-License-Identifier: Apache-2.0
// Opens files without waiting for the other end of a pipe.

#include "src/base/open_file.h"

#include <fcntl.h>
#include <sys/types.h>

#include <cerrno>
#include <system_error>

#include "src/base/high_descriptor.h"

namespace advstep {

int OpenFile(const char* path, int flags) noexcept {
    constexpr mode_t kMode = 0666;
    const int file = OpenHigh([&] { return open(path, flags | O_NONBLOCK | O_CLOEXEC, kMode); });
    if (file >= 0) {
        (void)fcntl(file, F_SETFL, flags);  // changes O_APPEND and O_NONBLOCK only
    }
    return file;
}

std::string FileErrorText(int error) {
    return error == ENXIO ? "a pipe without a reader, or no device"
                          : std::generic_category().message(error);
}

}  // namespace advstep
