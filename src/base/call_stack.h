// SPDX-License-Identifier: Apache-2.0
// The calls that a thread is in, as addresses now and as text later.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace advstep {

/// The return addresses of the calls that a thread is in, and the lines of the interpreter that has
/// made them. It is plain data: taking it costs a walk over the frames, and memory only for lines
/// that were never met before, and only Lines looks up names.
struct CallStack {
    static constexpr int kMostFrames = 24;

    int frames = 0;                // entries of addresses in use
    const char* script = nullptr;  // ScriptFramesHere of the thread
    void* addresses[kMostFrames];  // innermost first; the rest is not initialised

    /// Returns the stack of the caller.
    static CallStack Here() noexcept;

    /// Returns the stack of a thread that a signal has stopped at an instruction; the caller is in
    /// the handler.
    static CallStack At(uintptr_t instruction) noexcept;

    bool Empty() const { return frames == 0; }

    /// Returns the lines of the script, such as "train.py:12 in step", or if there are none those
    /// of CompiledLines, innermost first, at most `most`.
    std::vector<std::string> Lines(size_t most) const;

    /// Returns "FILE+OFFSET (FUNCTION) at SOURCE:LINE" for each frame, innermost first, at most
    /// `most`; a part that is not known is left out. The frames of this library before those of its
    /// caller are left out, unless the library is linked into the program. It may start a tool
    /// (FindSourcePlaces).
    std::vector<std::string> CompiledLines(size_t most) const;

    /// Returns the lines of the script and then those of CompiledLines, at most `most` of each.
    std::vector<std::string> AllLines(size_t most) const;

    /// Looks up the sources of what Lines(most) of each stack shows, so that the tool runs once for
    /// all of them.
    static void FindSources(const std::vector<const CallStack*>& stacks, size_t most);

    /// Returns the name of this library's function that its caller has called, or "" if it is not
    /// known, because the library is linked into the program.
    std::string EntryCall() const;

    /// Calls visit(file, function) for the frames that AllLines shows. A text is empty if it is not
    /// known; a function of C++ is demangled, with its parameters.
    template <typename Visit>
    void ForEachFrame(Visit&& visit) const {
        for (const Frame& frame : ScriptParts()) {
            visit(std::string_view(frame.file), std::string_view(frame.function));
        }
        for (const Frame& frame : Frames(kMostFrames)) {
            visit(std::string_view(frame.file), std::string_view(frame.function));
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
    struct Frame {
        std::string file;
        std::string function;
        std::string line;
    };

    int FirstShown() const;
    std::vector<const void*> Shown(size_t most) const;
    std::vector<Frame> Frames(size_t most) const;
    std::vector<std::string> ScriptLines(size_t most) const;
    std::vector<Frame> ScriptParts() const;
    static void NameFrame(void* address, std::string* file, std::string* function);
};

}  // namespace advstep
