// SPDX-License-Identifier: Apache-2.0
// What the threads of a life share: handles in slots, which any thread fills, uses and empties.
#ifndef ADVANCE_STEP_TESTS_CHAOS_WORLD_H_
#define ADVANCE_STEP_TESTS_CHAOS_WORLD_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "acl/acl.h"

namespace chaos {

// A handle that was destroyed may stay in a slot: calls must refuse it.
template <size_t kCount>
using Slots = std::array<std::atomic<void*>, kCount>;

// What may end while other threads use it. It decides where device memory may be written: an
// address that another thread's reset frees may be a third thread's a moment later.
enum class Ends {
    kNone,       // nothing
    kOwnDevice,  // each thread resets its own device; nobody writes the memory of another's
    kAll,        // devices by anybody, and the runtime; only registered memory is written
};

// Begun before a call that ends or drops work of other threads, done after it.
struct Disturbance {
    std::atomic<uint64_t> begun{0};
    std::atomic<uint64_t> done{0};
};

struct World {
    static constexpr int kMostThreads = 8;

    int threads = 4;
    int64_t mostRows = 1'000'000;
    uint64_t seed = 0;
    uint64_t life = 0;
    Ends ends = Ends::kNone;

    Slots<12> streams{};
    Slots<12> events{};
    Slots<6> notifies{};
    Slots<4> contexts{};
    Slots<6> models{};
    Slots<4> groups{};
    Slots<3> binaries{};

    Disturbance disturbance;
    // Arguments of host operators that were not released yet.
    std::atomic<int64_t> arguments{0};
    std::atomic<uint64_t> hostFunctionsRun{0};
    // Registered with the runtime; only ever grows, so a wait for a greater value ends.
    alignas(4096) std::atomic<uint64_t> tick{0};
    // The thread that processes reports.
    std::atomic<uint64_t> processor{0};
    std::atomic<uint64_t> launches{0};
    std::atomic<uint64_t> verified{0};
    std::atomic<uint64_t> rows{0};
};

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_WORLD_H_
