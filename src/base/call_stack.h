// SPDX-License-Identifier: Apache-2.0
// The calls that a thread is in, as addresses now and as text later.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace advstep {

/// The return addresses of the calls that a thread is in. It is plain data: taking it costs a walk
/// over the frames and no memory, and only Lines looks up names.
struct CallStack {
    static constexpr int kMostFrames = 24;

    int frames = 0;                // entries of addresses in use
    void* addresses[kMostFrames];  // innermost first; the rest is not initialised

    /// Returns the stack of the caller.
    static CallStack Here() noexcept;

    bool Empty() const { return frames == 0; }

    /// Returns "FILE+OFFSET (FUNCTION)" for each frame, innermost first, at most `most`. The frames
    /// of this library before those of its caller are left out, unless the library is linked into
    /// the program.
    std::vector<std::string> Lines(size_t most) const;

    /// Returns the name of this library's function that its caller has called, or "" if it is not
    /// known, because the library is linked into the program.
    std::string EntryCall() const;

    /// Calls visit(file, function) for the frames that Lines shows. A text is empty if it is not
    /// known; a function of C++ is demangled, with its parameters.
    template <typename Visit>
    void ForEachFrame(Visit&& visit) const {
        for (int frame = FirstShown(); frame < frames; ++frame) {
            std::string file;
            std::string function;
            NameFrame(addresses[frame], &file, &function);
            visit(std::string_view(file), std::string_view(function));
        }
    }

    /// Writes what Lines returns to standard error, with names as the linker has them. It takes no
    /// memory, so a signal handler may call it.
    void Write(size_t most) const noexcept;

    /// Returns the innermost frames of the caller of this library, and of the other stack's.
    CallStack And(const CallStack& other) const;

    /// Returns a number that is the same for equal stacks.
    uint64_t Hash() const;

    bool operator==(const CallStack& other) const;
    bool operator<(const CallStack& other) const;

 private:
    int FirstShown() const;
    static void NameFrame(void* address, std::string* file, std::string* function);
};

}  // namespace advstep
