// SPDX-License-Identifier: Apache-2.0
// Refusals of functions that published clients bind and no header here declares. The parameters of
// the functions are unknown, and their callers do not notice that.

#pragma once

#include <atomic>
#include <cstdint>

#include "src/cann/boundary.h"

namespace advstep::cann {

/// What the caller of a function gets that returns an operator: an empty one of CANN's layout, a
/// table of virtual functions and a shared_ptr. The caller ends the object.
struct OperatorObject {
    void* words[3];
    ~OperatorObject();
};

/// An empty std::string as programs know it that are compiled with _GLIBCXX_USE_CXX11_ABI=0.
struct OldText {
    const char* bytes;
    ~OldText();
};

/// The bytes of such a string.
const char* EmptyOldText() noexcept;

/// Each records 207000 for `symbol`, which a mangled name shows as C++ has it, with the text
/// `refusal`, and returns what its name says.
int32_t RefuseCode(const char* symbol, const char* refusal) noexcept;
uint32_t RefuseFailed(const char* symbol, const char* refusal) noexcept;  // of graph mode
int32_t RefuseUndefined(const char* symbol, const char* refusal) noexcept;
uint64_t RefuseZero(const char* symbol, const char* refusal) noexcept;
/// An object of zeros, which every such call returns.
void* RefuseObject(const char* symbol, const char* refusal) noexcept;
void* RefuseSelf(const char* symbol, const char* refusal, void* object) noexcept;
/// Constructs an empty operator in the object.
void RefuseHandle(const char* symbol, const char* refusal, void* object) noexcept;
OperatorObject RefuseOperator(const char* symbol, const char* refusal) noexcept;
OldText RefuseText(const char* symbol, const char* refusal) noexcept;
/// Clients register hundreds of things while they are loaded: only the first call records.
void RefuseRegistration(const char* symbol, const char* refusal, std::atomic<bool>& told) noexcept;

}  // namespace advstep::cann
