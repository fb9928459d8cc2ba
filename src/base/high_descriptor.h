// SPDX-License-Identifier: Apache-2.0
// Keeps the library's descriptors off the numbers of the standard streams.

#pragma once

#include <mutex>

namespace advstep {

/// Occupies, until the end of the scope, those of the numbers 0 to 2 that the program has closed,
/// by descriptors of /dev/null. A descriptor that is opened in the scope has a number above 2.
/// Without it the memory of a device could become descriptor 2, and each message to standard error
/// would be written into a block.
///
/// One scope at a time: the end of one would free a number under another. The mutex guards nothing
/// else, and only the one of the records of descriptors is taken after it.
class StandardNumbersTaken {
 public:
    StandardNumbersTaken() noexcept;
    ~StandardNumbersTaken();
    StandardNumbersTaken(const StandardNumbersTaken&) = delete;
    StandardNumbersTaken& operator=(const StandardNumbersTaken&) = delete;

    /// Returns a copy above 2 of a descriptor that got a low number all the same, because another
    /// thread of the program has just closed one, and closes the original. errno stays.
    static int Raise(int descriptor) noexcept;

 private:
    std::lock_guard<std::mutex> lock_;
    bool taken_[3] = {};
};

/// Returns open(), which opens a descriptor or returns -1 with errno set, as a number above 2.
/// `open` does not wait: other threads wait for it.
template <typename Open>
int OpenHigh(const Open& open) {
    const StandardNumbersTaken taken;
    return StandardNumbersTaken::Raise(open());
}

}  // namespace advstep
