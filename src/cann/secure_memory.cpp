// SPDX-License-Identifier: Apache-2.0
// The functions of securec for memory and texts, libc_sec, with its codes. A call that fails leaves
// no partial result: it empties the destination, if that is usable.

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "acl/acl_base.h"

namespace {

constexpr int kDone = 0;
constexpr int kReset = 128;  // added to the code if the destination was emptied
constexpr int kNullReset = EINVAL + kReset;
constexpr int kRangeReset = ERANGE + kReset;
constexpr int kOverlapReset = 54 + kReset;
constexpr size_t kMost = INT_MAX;  // bytes that a destination may have

bool BadSize(size_t destMax) { return destMax == 0 || destMax > kMost; }

bool Overlap(const void* one, size_t ofOne, const void* other, size_t ofOther) {
    const auto a = reinterpret_cast<uintptr_t>(one);
    const auto b = reinterpret_cast<uintptr_t>(other);
    return a < b + ofOther && b < a + ofOne;
}

int Empty(char* dest, int code) {
    dest[0] = '\0';
    return code;
}

int EmptyAll(void* dest, size_t destMax, int code) {
    std::memset(dest, 0, destMax);
    return code;
}

// The checks of a copy of bytes; kDone if it may be made.
int CheckCopy(void* dest, size_t destMax, const void* src, size_t count) {
    if (BadSize(destMax)) {
        return ERANGE;
    }
    if (dest == nullptr || src == nullptr) {
        return dest == nullptr ? EINVAL : EmptyAll(dest, destMax, kNullReset);
    }
    return count > destMax ? EmptyAll(dest, destMax, kRangeReset) : kDone;
}

// Puts the first `length` bytes of src behind the text of dest, whose length is `at`.
int PutText(char* dest, size_t destMax, size_t at, const char* src, size_t length) {
    if (length >= destMax - at) {
        return Empty(dest, kRangeReset);
    }
    if (Overlap(dest, at + length + 1, src, length + 1)) {
        return Empty(dest, kOverlapReset);
    }
    std::memcpy(dest + at, src, length);
    dest[at + length] = '\0';
    return kDone;
}

int CopyText(char* dest, size_t destMax, const char* src, size_t count) {
    if (BadSize(destMax)) {
        return ERANGE;
    }
    if (dest == nullptr || src == nullptr) {
        return dest == nullptr ? EINVAL : Empty(dest, kNullReset);
    }
    // A text of more bytes than dest has is too long, however many follow.
    const size_t length = strnlen(src, count < destMax ? count : destMax);
    if (dest == src && length < destMax) {
        dest[length] = '\0';
        return kDone;
    }
    return PutText(dest, destMax, 0, src, length);
}

int AppendText(char* dest, size_t destMax, const char* src, size_t count) {
    if (BadSize(destMax)) {
        return ERANGE;
    }
    if (dest == nullptr || src == nullptr) {
        return dest == nullptr ? EINVAL : Empty(dest, kNullReset);
    }
    const size_t at = strnlen(dest, destMax);
    if (at == destMax) {
        return Empty(dest, kNullReset);
    }
    return PutText(dest, destMax, at, src, strnlen(src, count < destMax ? count : destMax));
}

// Writes at most `count` characters. `truncates`: a longer text is cut to the destination;
// otherwise it is cut to `count`, with -1, or is empty if dest has no room for that.
int Format(char* dest, size_t destMax, size_t count, bool truncates, const char* format,
           std::va_list arguments) {
    if (dest == nullptr || BadSize(destMax) || format == nullptr || count > kMost) {
        if (dest != nullptr && !BadSize(destMax)) {
            dest[0] = '\0';
        }
        return -1;
    }
    const size_t room = count < destMax ? count + 1 : destMax;
    const int length = std::vsnprintf(dest, room, format, arguments);
    if (length >= 0 && static_cast<size_t>(length) < room) {
        return length;
    }
    if (length >= 0 && truncates) {
        return static_cast<int>(room - 1);
    }
    if (length < 0 || room == destMax) {
        dest[0] = '\0';
    }
    return -1;
}

}  // namespace

extern "C" {

ADVSTEP_API int memcpy_s(void* dest, size_t destMax, const void* src, size_t count) {
    const int code = CheckCopy(dest, destMax, src, count);
    if (code != kDone || count == 0 || dest == src) {
        return code;
    }
    if (Overlap(dest, count, src, count)) {
        return EmptyAll(dest, destMax, kOverlapReset);
    }
    std::memcpy(dest, src, count);
    return kDone;
}

ADVSTEP_API int memmove_s(void* dest, size_t destMax, const void* src, size_t count) {
    const int code = CheckCopy(dest, destMax, src, count);
    if (code == kDone && count > 0) {
        std::memmove(dest, src, count);
    }
    return code;
}

ADVSTEP_API int memset_s(void* dest, size_t destMax, int c, size_t count) {
    if (BadSize(destMax)) {
        return ERANGE;
    }
    if (dest == nullptr) {
        return EINVAL;
    }
    std::memset(dest, c, count < destMax ? count : destMax);
    return count > destMax ? kRangeReset : kDone;
}

ADVSTEP_API int strcpy_s(char* dest, size_t destMax, const char* src) {
    return CopyText(dest, destMax, src, SIZE_MAX);
}

ADVSTEP_API int strncpy_s(char* dest, size_t destMax, const char* src, size_t count) {
    return CopyText(dest, destMax, src, count);
}

ADVSTEP_API int strcat_s(char* dest, size_t destMax, const char* src) {
    return AppendText(dest, destMax, src, SIZE_MAX);
}

ADVSTEP_API int strncat_s(char* dest, size_t destMax, const char* src, size_t count) {
    return AppendText(dest, destMax, src, count);
}

ADVSTEP_API char* strtok_s(char* token, const char* delimiters, char** context) {
    if (delimiters == nullptr || context == nullptr || (token == nullptr && *context == nullptr)) {
        return nullptr;
    }
    return strtok_r(token, delimiters, context);
}

ADVSTEP_API int vsnprintf_s(char* dest, size_t destMax, size_t count, const char* format,
                            std::va_list arguments) {
    return Format(dest, destMax, count, false, format, arguments);
}

ADVSTEP_API int vsprintf_s(char* dest, size_t destMax, const char* format, std::va_list arguments) {
    return Format(dest, destMax, kMost, false, format, arguments);
}

ADVSTEP_API int vsnprintf_truncated_s(char* dest, size_t destMax, const char* format,
                                      std::va_list arguments) {
    return Format(dest, destMax, kMost, true, format, arguments);
}

ADVSTEP_API int snprintf_s(char* dest, size_t destMax, size_t count, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = Format(dest, destMax, count, false, format, arguments);
    va_end(arguments);
    return length;
}

ADVSTEP_API int sprintf_s(char* dest, size_t destMax, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = Format(dest, destMax, kMost, false, format, arguments);
    va_end(arguments);
    return length;
}

ADVSTEP_API int snprintf_truncated_s(char* dest, size_t destMax, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = Format(dest, destMax, kMost, true, format, arguments);
    va_end(arguments);
    return length;
}

}  // extern "C"
