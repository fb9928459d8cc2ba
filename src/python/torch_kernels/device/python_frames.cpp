// SPDX-License-Identifier: Apache-2.0
// Reads the frames of a thread without the interpreter's lock, as they lie in memory.

#include "torch_kernels/device/python_frames.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

// Weak, because a process without Python has none of it. None of them takes a lock or memory.
extern "C" void* PyGILState_GetThisThreadState() __attribute__((weak));
extern "C" int Py_IsInitialized() __attribute__((weak));
extern "C" int PyCode_Addr2Line(void* code, int byte) __attribute__((weak));
extern "C" const unsigned long Py_Version __attribute__((weak));

namespace advstep_torch {
namespace {

constexpr int kMostLooked = 64;
constexpr int kMostLines = 6;
constexpr size_t kMostOfName = 400;

// Where CPython 3.11 has what is read here: offsets in bytes.
constexpr unsigned long kKnownVersion = 0x030B;  // without the digits behind it
constexpr size_t kThreadCalls = 56;              // PyThreadState.cframe
constexpr size_t kCallsFrame = 8;                // _PyCFrame.current_frame
constexpr size_t kFrameCode = 32;                // of a frame: f_code, previous, prev_instr, owner
constexpr size_t kFramePrevious = 48;
constexpr size_t kFrameInstruction = 56;
constexpr size_t kFrameOwner = 69;
constexpr char kOwnedByGenerator = 1;
constexpr size_t kCodeFile = 112;  // of a code object
constexpr size_t kCodeName = 128;  // co_qualname
constexpr size_t kCodeFirst = 168;
constexpr size_t kCodeInstructions = 184;
constexpr size_t kTextLength = 16;  // of a text
constexpr size_t kTextState = 32;
constexpr size_t kTextAscii = 48;    // the characters of one that is ASCII
constexpr size_t kTextCompact = 72;  // and of another one

template <typename Value>
Value At(const void* object, size_t offset) {
    Value value;
    std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof(value));
    return value;
}

// Text of limited length. What does not fit is left out.
class ShortText {
 public:
    void Add(char character) {
        if (size_ < kMostOfName) {
            bytes_[size_++] = character;
        }
    }

    // Adds a character as UTF-8.
    void AddCode(uint32_t code) {
        if (code < 0x80) {
            Add(code < 0x20 ? '?' : static_cast<char>(code));
            return;
        }
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
        Add(static_cast<char>(kLead[more] | (code >> (6 * more))));
        for (int i = more - 1; i >= 0; --i) {
            Add(static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F)));
        }
    }

    std::string_view View() const { return {bytes_, size_}; }

 private:
    char bytes_[kMostOfName];
    size_t size_ = 0;
};

// The characters of a Python text. One in a form that code objects do not have is empty.
ShortText Copy(const void* object) {
    ShortText copy;
    const auto state = At<uint32_t>(object, kTextState);
    const uint32_t width = (state >> 2) & 7;
    const bool compact = ((state >> 5) & 1) != 0;
    const bool ascii = ((state >> 6) & 1) != 0;
    if (!compact || (width != 1 && width != 2 && width != 4)) {
        return copy;
    }
    const auto length = At<int64_t>(object, kTextLength);
    const size_t begin = ascii ? kTextAscii : kTextCompact;
    for (int64_t i = 0; i < length && copy.View().size() < kMostOfName; ++i) {
        const size_t at = begin + static_cast<size_t>(i) * width;
        copy.AddCode(width == 1   ? At<uint8_t>(object, at)
                     : width == 2 ? At<uint16_t>(object, at)
                                  : At<uint32_t>(object, at));
    }
    return copy;
}

// Set once, and never freed: another thread may ask while the process ends.
const std::vector<std::string>* libraries = nullptr;

bool IsOfLibrary(std::string_view file) {
    return libraries != nullptr &&
           std::any_of(libraries->begin(), libraries->end(), [&](const std::string& folder) {
               return file.substr(0, folder.size()) == folder;
           });
}

// Adds a line if all of it fits. Returns whether it did.
bool AddLine(std::string_view file, int number, std::string_view name, char* text, size_t room,
             size_t* size) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    const std::string_view parts[] = {*size == 0 ? "" : "\n",
                                      file,
                                      ":",
                                      {digits, static_cast<size_t>(end - digits)},
                                      " in ",
                                      name};
    size_t needed = 0;
    for (const std::string_view part : parts) {
        needed += part.size();
    }
    if (*size + needed > room) {
        return false;
    }
    for (const std::string_view part : parts) {
        std::memcpy(text + *size, part.data(), part.size());
        *size += part.size();
    }
    return true;
}

// A frame that has begun to run, as one whose line the interpreter tells.
bool HasBegun(const void* frame, const void* code) {
    const auto* const first = static_cast<const char*>(code) + kCodeInstructions +
                              size_t{2} * static_cast<size_t>(At<int>(code, kCodeFirst));
    return At<char>(frame, kFrameOwner) == kOwnedByGenerator ||
           At<const char*>(frame, kFrameInstruction) >= first;
}

}  // namespace

void SetLibraryFolders(std::vector<std::string> folders) {
    libraries = new std::vector<std::string>(std::move(folders));
}

size_t PythonFrames(char* text, size_t room) {
    if (&Py_Version == nullptr || Py_Version >> 16 != kKnownVersion || Py_IsInitialized() == 0) {
        return 0;
    }
    const void* const thread = PyGILState_GetThisThreadState();
    if (thread == nullptr) {
        return 0;
    }
    const void* const calls = At<const void*>(thread, kThreadCalls);
    const void* frame = calls == nullptr ? nullptr : At<const void*>(calls, kCallsFrame);
    size_t size = 0;
    int lines = 0;
    for (int looked = 0; frame != nullptr && looked < kMostLooked && lines < kMostLines;
         ++looked, frame = At<const void*>(frame, kFramePrevious)) {
        void* const code = At<void*>(frame, kFrameCode);
        if (!HasBegun(frame, code)) {
            continue;
        }
        const ShortText file = Copy(At<const void*>(code, kCodeFile));
        if (file.View().substr(0, 8) == "<frozen " || (lines > 0 && IsOfLibrary(file.View()))) {
            continue;
        }
        const auto byte = At<const char*>(frame, kFrameInstruction) -
                          (static_cast<const char*>(code) + kCodeInstructions);
        const ShortText name = Copy(At<const void*>(code, kCodeName));
        if (!AddLine(file.View(), PyCode_Addr2Line(code, static_cast<int>(byte)), name.View(), text,
                     room, &size)) {
            break;
        }
        ++lines;
    }
    return size;
}

}  // namespace advstep_torch
