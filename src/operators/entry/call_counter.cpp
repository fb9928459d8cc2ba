// SPDX-License-Identifier: Apache-2.0
// Counts the calls of each function.

#include "src/operators/entry/call_counter.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "src/operators/entry/functions.h"

namespace advstep_operators {
namespace {

// Never destroyed: global destructors may call operators. Each count stands for itself, so no order
// of memory is needed; who reads them has waited for the threads that call.
std::atomic<uint64_t>* Counts() noexcept {
    static std::atomic<uint64_t>* const counts = new std::atomic<uint64_t>[kFunctionCount] {};
    return counts;
}

}  // namespace

void CountCall(const FunctionSpec& function) noexcept {
    Counts()[&function - kFunctions].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace advstep_operators

/// Returns how many calls of a function, such as aclnnAdd, have queued their task in this process:
/// 0 for a name that is none. Null: of all functions. The Python package looks it up by name.
extern "C" ADVSTEP_API uint64_t advstepOperatorCalls(const char* function) {
    using namespace advstep_operators;
    uint64_t calls = 0;
    for (uint32_t place = 0; place < kFunctionCount; ++place) {
        if (function == nullptr || std::strcmp(kFunctions[place].call, function) == 0) {
            calls += Counts()[place].load(std::memory_order_relaxed);
        }
    }
    return calls;
}
