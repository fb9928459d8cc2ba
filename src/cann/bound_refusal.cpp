// SPDX-License-Identifier: Apache-2.0
// Refusals of functions that published clients bind and no header here declares.

#include "src/cann/bound_refusal.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>

// The empty string of the old layout, in libstdc++. Its bytes follow three words.
extern "C" const char advstepEmptyOldText[] __asm__("_ZNSs4_Rep20_S_empty_rep_storageE");

namespace advstep::cann {
namespace {

void Record(const char* symbol, const char* refusal) noexcept {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    const char* const call = status == 0 && readable != nullptr ? readable.get() : symbol;
    advstepRecordFailure(call, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, refusal);
}

}  // namespace

const char* EmptyOldText() noexcept {
    constexpr size_t kHead = 3 * sizeof(size_t);
    return advstepEmptyOldText + kHead;
}

// Only callers have such objects.
OperatorObject::~OperatorObject() = default;
OldText::~OldText() = default;

int32_t RefuseCode(const char* symbol, const char* refusal) noexcept {
    Record(symbol, refusal);
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

uint32_t RefuseFailed(const char* symbol, const char* refusal) noexcept {
    Record(symbol, refusal);
    return 0xFFFFFFFF;
}

int32_t RefuseUndefined(const char* symbol, const char* refusal) noexcept {
    Record(symbol, refusal);
    return -1;
}

uint64_t RefuseZero(const char* symbol, const char* refusal) noexcept {
    Record(symbol, refusal);
    return 0;
}

void* RefuseObject(const char* symbol, const char* refusal) noexcept {
    alignas(64) static unsigned char zeros[4096];
    Record(symbol, refusal);
    return zeros;
}

void* RefuseSelf(const char* symbol, const char* refusal, void* object) noexcept {
    Record(symbol, refusal);
    return object;
}

void RefuseHandle(const char* symbol, const char* refusal, void* object) noexcept {
    Record(symbol, refusal);
    std::memset(object, 0, sizeof(OperatorObject));
}

OperatorObject RefuseOperator(const char* symbol, const char* refusal) noexcept {
    Record(symbol, refusal);
    return {};
}

OldText RefuseText(const char* symbol, const char* refusal) noexcept {
    Record(symbol, refusal);
    return {EmptyOldText()};
}

void RefuseRegistration(const char* symbol, const char* refusal, std::atomic<bool>& told) noexcept {
    if (!told.exchange(true, std::memory_order_relaxed)) {
        Record(symbol, refusal);
    }
}

}  // namespace advstep::cann
